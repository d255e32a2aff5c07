#include "formats/qaic/opstats/opstats_profile.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "formats/qaic/opstats/opstats_summary.hpp"
#include "formats/qaic/opstats/opstats_trace.hpp"
#include "formats/qaic/opstats/profile_lookup.hpp"
#include "formats/qaic/stats/random_buffer.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"
#include "profile/shared_numbers.hpp"

namespace npuscope::qaic::opstats_profile_test {
namespace {

using test::checks_of;
using test::notes_of;
using test_support::make_random_case;
using test_support::RandomCase;
using test_support::RandomOptions;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

chrome::Events events_of(const std::string& json, bool quoted_numbers = false) {
  const auto source = open_byte_source(json, "trace.json");
  chrome::ReadOptions options;
  options.quoted_numbers = quoted_numbers;
  auto events = chrome::read_events(**source, options);
  EXPECT_TRUE(events) << events.error().message;
  return std::move(*events);
}

Profile read(const std::string& json, bool quoted_numbers = false) {
  chrome::Events events = events_of(json, quoted_numbers);
  EXPECT_TRUE(is_opstats_trace(events));
  return make_opstats_profile(std::move(events));
}

std::string unit_name(const Profile& profile, UnitId id) {
  const Unit& unit = profile.units[index_of(id)];
  std::string name(profile.text(unit.name));
  return unit.parent == UnitId::none ? name : unit_name(profile, unit.parent) + "/" + name;
}

std::string_view kind_name(SpanKind kind) {
  switch (kind) {
    case SpanKind::op: return "op";
    case SpanKind::sync: return "sync";
    case SpanKind::barrier: return "barrier";
    case SpanKind::transfer: return "transfer";
    case SpanKind::inference: return "inference";
    case SpanKind::host: return "host";
    case SpanKind::instant: return "instant";
    case SpanKind::async: return "async";
    default: return "?";
  }
}

// "unit kind op start+duration cycles #inference args", a line for each span.
std::vector<std::string> spans_of(const Profile& profile) {
  std::vector<std::string> lines;
  const Spans& spans = profile.spans;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const std::string_view op =
        spans.op[i] == OpId::none ? "-" : profile.text(profile.ops[index_of(spans.op[i])].name);
    std::string line = fmt::format("{} {} {} {}+{}", unit_name(profile, spans.unit[i]),
                                   kind_name(spans.kind[i]), op, spans.start[i], spans.duration[i]);
    if (spans.processor_cycles[i] >= 0) line += fmt::format(" {}c", spans.processor_cycles[i]);
    if (!spans.instance.empty()) line += fmt::format(" #{}", spans.instance[i]);
    for (std::size_t place = 0; place < spans.arguments.count(i); ++place) {
      const Argument argument = spans.arguments.at(i, place);
      line += fmt::format(" {}={}", profile.text(argument.key.name),
                          argument.key.type == ArgumentType::text
                              ? std::string(profile.text(argument.text()))
                              : fmt::format("{}", argument.as_number().value_or(-1)));
    }
    lines.push_back(line);
  }
  return lines;
}

// --- the three generations, after the fragments that are public ---

constexpr std::string_view sdk_1_10 = R"json({"traceEvents": [
{"name": "process_name", "ph": "M", "pid": 18, "args": {"name": "HOST_PROC (pid 18)"}},
{"name": "process_name", "ph": "M", "pid": 0, "args": {"name": "Process 0"}},
{"name": "infer", "cat": "host", "ph": "X", "pid": 18, "tid": 1, "ts": 0, "dur": 1000},
{"name": "sync HVX-3", "cat": "aic", "ph": "X", "pid": 0, "tid": 2, "ts": 99.8958333, "dur": 0.1041667},
{"name": "aicsoftmaxmaskedd32-3", "cat": "aic", "ph": "X", "pid": 0, "tid": 2, "ts": 100.0, "dur": 135.7291667,
 "args": {"effectiveFreq": "1450.248350", "opPCycle": "196841", "opUCycle": "2606", "opKind": "aicsoftmaxmaskedd32",
 "opMemory": "TCM", "opName": "Softmax_1404__2_tile_0", "opOperand": "Softmax_1404_res@float16, scratch@i8, Mul_402@float16",
 "opShape": "Dest [4 x 1 x 12 x 12 x 1024], ScratchReduce [1024]"}},
{"name": "aicconvolutiond32-3", "cat": "aic", "ph": "X", "pid": 0, "tid": 4, "ts": 10, "dur": 0.5729167,
 "args": {"opPCycle": "799", "opUCycle": "11", "opKind": "aicconvolutiond32", "opMemory": "TCM", "opName": "MatMul_1"}},
{"name": "Freq:", "ph": "C", "pid": 0, "ts": 100, "args": {"Freq": 1450.25}}
]})json";

TEST(OpstatsProfile, ReadsTheRuntimeTraceOfSdk110) {
  const Profile profile = read(std::string(sdk_1_10));
  EXPECT_THAT(spans_of(profile),
              ElementsAre("HOST_PROC (pid 18)/thread 1 async infer 0+19200 #4294967295",
                          "device/Core_0/HVX sync - 1918+2 #3",
                          "device/Core_0/HVX op Softmax_1404__2_tile_0 1920+2606 196841c #3",
                          "device/Core_0/HMX op MatMul_1 192+11 799c #3"));
  const Op& softmax = profile.ops[index_of(profile.spans.op[2])];
  EXPECT_EQ(profile.text(softmax.kind), "aicsoftmaxmaskedd32");
  EXPECT_EQ(profile.text(softmax.memory), "TCM");
  EXPECT_EQ(profile.text(softmax.types), "float16, i8");
  EXPECT_EQ(profile.text(softmax.shape), "Dest [4 x 1 x 12 x 12 x 1024], ScratchReduce [1024]");
  EXPECT_EQ(profile.units[index_of(profile.spans.unit[2])].engine, Engine::hvx);
  EXPECT_EQ(profile.units[index_of(profile.spans.unit[2])].lane, 2u);
  EXPECT_EQ(profile.provenance.inferences, 1u);
  ASSERT_EQ(profile.counters.size(), 1u);
  EXPECT_EQ(profile.counters.value[0], 1450.25);
  EXPECT_EQ(unit_name(profile, profile.counters.series[0].unit), "device/Core_0");
  EXPECT_THAT(checks_of(profile),
              ElementsAre("duration = opUCycle / 19.2 MHz: 2 of 2 slices",
                          "effectiveFreq, PCyclesPerKB, UCyclesPerKB = what they are made of: 1 "
                          "of 1 slices"));
}

constexpr std::string_view sdk_1_12 = R"([
{"name": "process_name", "ph": "M", "pid": 2003, "args": {"name": "Program:BenchmarkSet_10 [QAicGraph_Core_3]"}},
{"name": "aicconvolutiond32-Inf-6", "cat": "aic", "ph": "X", "pid": 2003, "tid": 4, "ts": "1000", "dur": 0.573,
 "args": {"PCyclesPerKB": "10.243590", "UCyclesPerKB": "0.141026", "effectiveFreq": "1394.618182", "opKind": "aicconvolutiond32",
 "opMemory": "TCM", "opName": "/model/layers.0/self_attn/q_proj/MatMul", "opPCycle": "799", "opUCycle": "11", "opOutputSize": "79872",
 "opAttributes": "{Kernels: [1, 1], Strides: [1, 1]}",
 "opOperand0": "inout TCM Dest /q_proj/MatMul/__1.res float16 <1 x 1 x 1 x 5 x 1024> 10KB",
 "opOperand1": "out  BackupVTCMAlloc x_AIC_vtcmBackup i8 <69632> 68KB",
 "opOperand2": "in TCM SumBBias y index32 <1 x 1 x 1 x 32> 0KB"}},
{"name": "aicconvolutiond32-Inf-7", "cat": "aic", "ph": "X", "pid": 2003, "tid": 4, "ts": 2000, "dur": 0.573,
 "args": {"PCyclesPerKB": "11.000000", "effectiveFreq": "1394.618182", "opKind": "aicconvolutiond32",
 "opMemory": "TCM", "opName": "/model/layers.0/self_attn/q_proj/MatMul", "opPCycle": "799", "opUCycle": "11", "opOutputSize": "79872",
 "opAttributes": "{Kernels: [3, 3]}"}},
{"name": "Freq FreqMHz", "ph": "C", "pid": 2003, "tid": 0, "ts": 1000, "args": {"FreqMHz": "1394.6"}}
])";

TEST(OpstatsProfile, ReadsTheRuntimeTraceOfSdk112) {
  const Profile profile = read(std::string(sdk_1_12));
  // What does not fit what the first slice says of the op stays with the second: a wrong ratio,
  // other attributes.
  EXPECT_THAT(
      spans_of(profile),
      ElementsAre("QAicGraph/QAicGraph_Core_3/HMX op /model/layers.0/self_attn/q_proj/MatMul "
                  "19200+11 799c #6",
                  "QAicGraph/QAicGraph_Core_3/HMX op /model/layers.0/self_attn/q_proj/MatMul "
                  "38400+11 799c #7 PCyclesPerKB=11.000000 opAttributes={Kernels: [3, 3]}"));
  ASSERT_EQ(profile.ops.size(), 1u);
  const Op& op = profile.ops[0];
  EXPECT_EQ(op.core, 3u);
  EXPECT_EQ(op.output.value, 79872);
  EXPECT_EQ(profile.text(op.types), "float16, i8, index32");
  EXPECT_EQ(profile.text(op.attributes), "{Kernels: [1, 1], Strides: [1, 1]}");
  EXPECT_EQ(profile.text(op.operands),
            "inout TCM Dest /q_proj/MatMul/__1.res float16 <1 x 1 x 1 x 5 x 1024> 10KB\n"
            "out  BackupVTCMAlloc x_AIC_vtcmBackup i8 <69632> 68KB\n"
            "in TCM SumBBias y index32 <1 x 1 x 1 x 32> 0KB");
  EXPECT_EQ(profile.provenance.graph, "QAicGraph");
  EXPECT_EQ(profile.provenance.inferences, 2u);
  EXPECT_EQ(profile.counters.value[0], 1394.6);
}

// Two cards, their flow ids the same; waits without length; ids of ops count per card and core.
constexpr std::string_view qaic_opstats = R"({"traceEvents": [
{"name": "thread_name", "ph": "M", "pid": 1, "tid": 1, "args": {"name": "QAicGraph_slice00_Core_3"}},
{"name": "thread_name", "ph": "M", "pid": 1, "tid": 2, "args": {"name": "QAicGraph_slice00_Core_3_HMX"}},
{"name": "thread_name", "ph": "M", "pid": 1, "tid": 3, "args": {"name": "QAicGraph_slice00_Core_3_DMAIssue"}},
{"name": "thread_name", "ph": "M", "pid": 1, "tid": 4, "args": {"name": "QAicGraph_slice00_Core_3_DMAIssue_DMA"}},
{"name": "thread_name", "ph": "M", "pid": 1, "tid": 5, "args": {"name": "QAicGraph_slice00_Core_3_HMX_Barrier"}},
{"name": "thread_name", "ph": "M", "pid": 2, "tid": 1, "args": {"name": "QAicGraph_slice01_Core_3_HMX"}},
{"name": "thread_name", "ph": "M", "pid": 2, "tid": 2, "args": {"name": "QAicGraph_slice01_Core_3_DMAIssue"}},
{"name": "Core-3-Execution", "cat": "aic", "ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 1000, "args": {}},
{"name": "aiccopytovtcm", "cat": "aic", "ph": "X", "pid": 1, "tid": 3, "ts": 10, "dur": 1.0416667, "args": {"oc" : "7", "opName" : "/x", "opKind" : "aiccopytovtcm", "opPCycle" : "1400", "opUCycle" : "480"}},
{"name": "aiccopytovtcm", "cat": "aic", "ph": "X", "pid": 1, "tid": 4, "ts": 10, "dur": 25, "args": {"oc" : "7", "opName" : "/x", "opKind" : "aiccopytovtcm", "opUCycle" : "480"}},
{"name": "sync HMX", "cat": "aic", "ph": "X", "pid": 1, "tid": 2, "ts": 10, "dur": 0, "args": {"oc" : "3", "opName" : "/y", "opSyncDurUs" : "25.000000"}},
{"name": "elementadd ", "cat": "aic", "ph": "X", "pid": 1, "tid": 2, "ts": 35, "dur": 10, "args": {"oc" : "3", "opName" : "/y", "opKind" : "elementadd ", "opMemory" : "TCM", "opPCycle" : "956", "opUCycle" : "192", "custom" : "kept"}},
{"name": "barrier HMX", "cat": "aic", "ph": "X", "pid": 1, "tid": 5, "ts": 45, "dur": 5, "args": {"oc" : "3", "opName" : "/y"}},
{"name": "aicconvolutiond32", "cat": "aic", "ph": "X", "pid": 2, "tid": 1, "ts": 50, "dur": 10, "args": {"oc" : "3", "opName" : "/y", "opKind" : "aicconvolutiond32", "opPCycle" : "956", "opUCycle" : "192"}},
{"name": "aicconvolutiond32", "cat": "aic", "ph": "X", "pid": 2, "tid": 1, "ts": 60, "dur": 10, "args": {"oc" : "4", "opName" : "/z", "opKind" : "aicconvolutiond32", "opPCycle" : "956", "opUCycle" : "192"}},
{"name": "dep", "cat": "true", "ph": "s", "id": 1, "pid": 1, "tid": 4, "ts": 34, "args": {"oc" : "7"}},
{"name": "dep", "cat": "false", "ph": "s", "id": 1, "pid": 2, "tid": 1, "ts": 55, "args": {"oc" : "3"}},
{"name": "dep", "cat": "true", "ph": "f", "bp": "e", "id": 1, "pid": 1, "tid": 2, "ts": 35, "args": {"oc" : "3"}},
{"name": "dep", "cat": "false", "ph": "f", "bp": "e", "id": 1, "pid": 2, "tid": 1, "ts": 60, "args": {"oc" : "4"}},
{"name": "dep", "cat": "true", "ph": "f", "bp": "e", "id": 9, "pid": 2, "tid": 1, "ts": 60, "args": {"oc" : "4"}},
{"name": "aicmulticastvtcm_out", "cat": "aic", "ph": "X", "pid": 1, "tid": 3, "ts": 70, "dur": 1, "args": {"oc" : "8", "opKind":"aicmulticastvtcm_out","PortType":"P2P","PortDescription":"0->1","TransactionId":"1","opName":"/Transpose_2","opOutputSize":"512"}},
{"name": "aicmulticastvtcm_in", "cat": "aic", "ph": "X", "pid": 2, "tid": 2, "ts": 72, "dur": 1, "args": {"oc" : "8", "opKind":"aicmulticastvtcm_in","PortType":"P2P","PortDescription":"1<-0","TransactionId":"1","opName":"/Transpose_2","opOutputSize":"512"}}
]})";

TEST(OpstatsProfile, ReadsAMergedTraceOfTwoCards) {
  const Profile profile = read(std::string(qaic_opstats));
  EXPECT_THAT(
      spans_of(profile),
      ElementsAre(
          "QAicGraph_slice00/QAicGraph_slice00_Core_3 inference - 0+19200",
          // Its ticks include the transfer: the slice is what the thread did.
          "QAicGraph_slice00/QAicGraph_slice00_Core_3/DMAIssue op /x 192+20 1400c opUCycle=480",
          "QAicGraph_slice00/QAicGraph_slice00_Core_3/DMAIssue/DMAIssue_DMA transfer /x 192+480",
          "QAicGraph_slice00/QAicGraph_slice00_Core_3/HMX sync /y 192+480",
          "QAicGraph_slice00/QAicGraph_slice00_Core_3/HMX op /y 672+192 956c custom=kept",
          "QAicGraph_slice00/QAicGraph_slice00_Core_3/HMX barrier /y 864+96",
          "QAicGraph_slice01/QAicGraph_slice01_Core_3/HMX op /y 960+192 956c",
          "QAicGraph_slice01/QAicGraph_slice01_Core_3/HMX op /z 1152+192 956c",
          "QAicGraph_slice00/QAicGraph_slice00_Core_3/DMAIssue op /Transpose_2 1344+19 "
          "PortType=P2P PortDescription=0->1 TransactionId=1",
          "QAicGraph_slice01/QAicGraph_slice01_Core_3/DMAIssue op /Transpose_2 1382+19 "
          "PortType=P2P PortDescription=1<-0 TransactionId=1"));
  EXPECT_EQ(profile.units[index_of(profile.spans.unit[6])].device, 1u);
  EXPECT_EQ(profile.provenance.graph, "QAicGraph_slice00, QAicGraph_slice01");
  EXPECT_EQ(profile.provenance.version, "qaic-opstats");

  std::vector<std::string> flows, edges;
  for (const Flow& flow : profile.flows) {
    flows.push_back(fmt::format("{}->{} {}", index_of(flow.from), index_of(flow.to),
                                profile.text(flow.category)));
  }
  EXPECT_THAT(flows, ElementsAre("2->4 true", "6->7 false"));
  for (const Edge& edge : profile.edges) {
    const auto name = [&](OpId op) {
      const Op& of = profile.ops[index_of(op)];
      return fmt::format("{}:{}", profile.text(of.kind), profile.text(of.name));
    };
    edges.push_back(
        fmt::format("{} -> {} {}", name(edge.from), name(edge.to), std::size_t(edge.kind)));
  }
  EXPECT_THAT(
      edges,
      ::testing::UnorderedElementsAre(
          "aiccopytovtcm:/x -> elementadd:/y 0", "aicconvolutiond32:/y -> aicconvolutiond32:/z 1",
          "aicmulticastvtcm_out:/Transpose_2 -> aicmulticastvtcm_in:/Transpose_2 3"));
  EXPECT_THAT(notes_of(profile), ElementsAre("flow events have no other end; left out"));
  EXPECT_THAT(checks_of(profile),
              ElementsAre("!duration = opUCycle / 19.2 MHz: 4 of 5 slices; the others keep what "
                          "they say as arguments"));
}

TEST(OpstatsProfile, IsNotMadeOfOtherTraces) {
  EXPECT_FALSE(is_opstats_trace(events_of(
      R"([{"name": "a", "ph": "X", "pid": 1, "tid": 2, "ts": 0, "dur": 1, "args": {"opKind": 1}}])")));
}

// --- round trip: buffer -> profile -> trace -> profile ---

class OpstatsRoundTrip : public ::testing::Test {
 protected:
  OpstatsRoundTrip() {
    path_ = std::filesystem::path(::testing::TempDir()) /
            ("opstats_profile_" + std::to_string(::getpid()) + ".json");
  }
  ~OpstatsRoundTrip() override { std::filesystem::remove(path_); }

  static Profile decode(const RandomCase& random) {
    const auto network =
        StatsNetwork::create(random.descriptor, &random.program, {.dependencies = true});
    return std::move(*decode_stats_buffer(random.bytes(), "buffer.bin", *network));
  }

  Profile write_and_read(const std::vector<const Profile*>& profiles, const TraceOptions& options) {
    const auto written = write_opstats_trace(profiles, options, path_);
    EXPECT_TRUE(written) << written.error().message;
    flows_not_drawn_ = written->flows_not_drawn;
    std::ifstream in(path_);
    return read({std::istreambuf_iterator<char>(in), {}});
  }

  std::filesystem::path path_;
  std::uint64_t flows_not_drawn_ = 0;
};

// Kind, op, thread, ticks: everything that a trace with a track per thread holds.
std::multiset<std::string> work_of(const Profile& profile, bool with_start) {
  std::multiset<std::string> rows;
  const Spans& spans = profile.spans;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (spans.op[i] == OpId::none) continue;
    const Unit& unit = profile.units[index_of(spans.unit[i])];
    std::string row =
        fmt::format("{} op {} core {} lane {} {} ticks {} cycles {}", kind_name(spans.kind[i]),
                    index_of(spans.op[i]), unit.core, unit.lane, profile.text(unit.name),
                    spans.duration[i], spans.processor_cycles[i]);
    if (with_start) row += fmt::format(" at {}", spans.start[i]);
    rows.insert(row);
  }
  return rows;
}

std::vector<std::string> ops_of(const Profile& profile) {
  std::vector<std::string> rows;
  for (const Op& op : profile.ops) {
    rows.push_back(fmt::format("{} {} {} {} {} {} {} core {} group {} position {}",
                               profile.text(op.name), profile.text(op.kind),
                               profile.text(op.memory), profile.text(op.operands),
                               profile.text(op.shape), profile.text(op.attributes), op.output.value,
                               op.core, op.group, op.position));
  }
  return rows;
}

std::multiset<std::string> edges_of(const Profile& profile) {
  std::multiset<std::string> rows;
  for (const Edge& edge : profile.edges) {
    rows.insert(
        fmt::format("{}->{} {}", index_of(edge.from), index_of(edge.to), std::size_t(edge.kind)));
  }
  return rows;
}

TEST_F(OpstatsRoundTrip, KeepsEveryOpSpanAndWaitWithATrackPerThread) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Profile before = decode(make_random_case({.seed = seed, .cores = 3}));
    const Profile after =
        write_and_read({&before}, {.merge_thread_groups = false, .show_barrier_events = true});
    EXPECT_EQ(ops_of(after), ops_of(before)) << "seed " << seed;
    EXPECT_EQ(work_of(after, true), work_of(before, true)) << "seed " << seed;
    EXPECT_THAT(after.notes, IsEmpty());
    EXPECT_TRUE(after.spans.arguments.empty());
    for (const Check& check : after.checks) EXPECT_EQ(check.outcome, Check::Outcome::passed);
  }
}

// Numbers in quotes may be read as texts or at once as numbers.
TEST_F(OpstatsRoundTrip, IsTheSameHoweverQuotedNumbersAreRead) {
  const Profile before = decode(make_random_case({.seed = 3, .cores = 2}));
  const Profile as_texts = write_and_read({&before}, {.flow_events = true});
  std::ifstream in(path_);
  const Profile as_numbers = read({std::istreambuf_iterator<char>(in), {}}, true);
  EXPECT_EQ(ops_of(as_numbers), ops_of(as_texts));
  EXPECT_EQ(spans_of(as_numbers), spans_of(as_texts));
  EXPECT_EQ(edges_of(as_numbers), edges_of(as_texts));
  EXPECT_EQ(as_numbers.flows.size(), as_texts.flows.size());
  EXPECT_EQ(checks_of(as_numbers), checks_of(as_texts));
}

// Each card counts its flows from 1 and starts again with each inference; the cards' events are
// mixed. The truth: the k-th arrow of an id within a card.
TEST(OpstatsProfile, PairsFlowsWhoseIdsRepeat) {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    std::string json = "[";
    std::vector<std::vector<std::string>> events(4);  // by card: starts, ends
    std::set<std::string> truth;
    for (int card = 0; card < 2; ++card) {
      json += fmt::format(
          R"({{"name": "thread_name", "ph": "M", "pid": {0}, "tid": 1, "args": {{"name": "G_slice0{0}_Core_0_HMX"}}}},)",
          card);
      for (int op = 0; op < 40; ++op) {
        json += fmt::format(
            R"({{"name": "k", "ph": "X", "pid": {}, "tid": 1, "ts": {}, "dur": 8, "args": {{"oc": "{}", "opName": "{}/{}", "opKind": "k", "opUCycle": "154"}}}},)",
            card, op * 10, op, card, op);
      }
      for (int flow = 0; flow < 30; ++flow) {
        const int from = int(random() % 39), to = from + 1 + int(random() % (39 - from));
        const auto end = [&](char phase, int op) {
          return fmt::format(
              R"({{"name": "dep", "cat": "true", "ph": "{}", "id": {}, "pid": {}, "tid": 1, "ts": {}, "args": {{"oc": "{}"}}}},)",
              phase, flow % 7, card, op * 10 + 4, op);
        };
        events[std::size_t(card) * 2].push_back(end('s', from));
        events[std::size_t(card) * 2 + 1].push_back(end('f', to));
        truth.insert(fmt::format("{0}/{1} -> {0}/{2}", card, from, to));
      }
    }
    std::vector<std::size_t> next(4, 0);
    for (int left = 120; left > 0; --left) {
      std::size_t stream = random() % 4;
      while (next[stream] == events[stream].size()) stream = (stream + 1) % 4;
      json += events[stream][next[stream]++];
    }
    json.back() = ']';
    const Profile profile = read(json);
    std::set<std::string> found;
    for (const Edge& edge : profile.edges) {
      found.insert(fmt::format("{} -> {}", profile.text(profile.ops[index_of(edge.from)].name),
                               profile.text(profile.ops[index_of(edge.to)].name)));
    }
    EXPECT_EQ(found, truth);
    EXPECT_EQ(profile.flows.size(), 60u);
    EXPECT_THAT(profile.notes, IsEmpty());
  }
}

// On a merged track a slice lasts as long as the group was at its op; what the summary tells, the
// slowest thread's ticks, stays with it as an argument where it is another number.
TEST_F(OpstatsRoundTrip, KeepsTheSummarysFiguresWithMergedThreads) {
  const Profile before = decode(make_random_case({.seed = 5, .cores = 2, .ops_per_group = 50}));
  const Profile after = write_and_read({&before}, {});
  using Sums = std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>;
  Sums ours, theirs;
  const OpstatsSummary summary = summarise(before);
  for (const OpstatsCore& core : summary.cores) {
    for (const OpstatsRow& row : core.rows) {
      if (row.type != OpstatsRow::Type::op || row.group == "DMAIssue") continue;
      auto& sum = theirs[fmt::format("{} {} {} {}", core.core, row.kind, row.group, row.memory)];
      sum.first += row.ucycles;
      sum.second += row.pcycles;
    }
  }
  const Spans& spans = after.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const Unit& unit = after.units[index_of(spans.unit[row])];
    if (spans.kind[row] != SpanKind::op || unit.engine == Engine::dma_issue) continue;
    const Op& op = after.ops[index_of(spans.op[row])];
    auto& sum = ours[fmt::format("{} {} {} {}", op.core, after.text(op.kind), after.text(unit.name),
                                 after.text(op.memory))];
    std::int64_t ticks = spans.duration[row];
    for (std::uint32_t i = 0; i < spans.arguments.count(row); ++i) {
      const Argument argument = spans.arguments.at(row, i);
      if (after.text(argument.key.name) != "opUCycle") continue;
      ticks = std::stoll(std::string(after.text(argument.text())));
    }
    sum.first += std::uint64_t(ticks);
    sum.second += std::uint64_t(spans.processor_cycles[row]);
  }
  EXPECT_EQ(ours, theirs);
}

// Threads that share a track are as many as the head of the file says, or, in the vendor's traces,
// as a core has.
TEST_F(OpstatsRoundTrip, ATrackOfSeveralThreadsWasTakenForOneThread) {
  const Profile before = decode(make_random_case({.seed = 5, .cores = 2, .ops_per_group = 20}));
  const auto threads_of = [](const Profile& profile) {
    std::map<std::string, double> threads;
    for (const Measure& measure : profile.measures) {
      if (profile.text(measure.what) != threads_of_unit.name) continue;
      threads[std::string(profile.text(profile.units[measure.subject_id].name))] = measure.value;
    }
    return threads;
  };
  using Threads = std::map<std::string, double>;
  EXPECT_EQ(threads_of(write_and_read({&before}, {})), (Threads{{"HVX", 4}}));
  EXPECT_EQ(threads_of(write_and_read({&before}, {.merge_thread_groups = false})), Threads{});
  const std::string vendors =
      R"({"traceEvents": [
{"name": "thread_name", "ph": "M", "pid": 1, "tid": 1, "args": {"name": "QAicGraph_Core_0_HVX"}},
{"name": "thread_name", "ph": "M", "pid": 1, "tid": 2, "args": {"name": "QAicGraph_Core_0_HMX"}},
{"name": "aicsoftmax", "ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 1.0, "args": {"opKind" : "aicsoftmax", "opUCycle" : "19"}},
{"name": "aicconvolutiond32", "ph": "X", "pid": 1, "tid": 2, "ts": 0, "dur": 1.0, "args": {"opKind" : "aicconvolutiond32", "opUCycle" : "19"}}
]})";
  EXPECT_EQ(threads_of(read(vendors)), (Threads{{"HVX", 4}}));
}

TEST_F(OpstatsRoundTrip, KeepsDependencies) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Profile before = decode(make_random_case({.seed = seed, .cores = 2}));
    const Profile after = write_and_read({&before}, {.flow_events = true});
    const auto drawn = edges_of(after), all = edges_of(before);
    std::set<std::string> distinct(all.begin(), all.end());
    for (const std::string& edge : drawn) EXPECT_TRUE(distinct.contains(edge)) << edge;
    EXPECT_EQ(after.flows.size() + flows_not_drawn_, before.edges.size());
    for (const Flow& flow : after.flows) {
      EXPECT_NE(after.spans.op[index_of(flow.from)], OpId::none);
    }
  }
}

TEST_F(OpstatsRoundTrip, TellsDevicesActivationsAndInferencesApart) {
  const RandomCase random = make_random_case({.seed = 9, .cores = 2});
  RandomCase other = random;
  other.buffer.identity.device = 1;
  RandomCase activation = random;
  activation.buffer.identity.activation = 1;
  RandomCase next = random;
  next.buffer.identity.inference = 214;
  for (auto& thread : next.buffer.threads) {
    thread.begin_ticks += 1'000'000;
    thread.end_ticks += 1'000'000;
  }
  for (auto& ops : next.buffer.ops) {
    for (StatsOp& op : ops) op.start_ticks += 1'000'000;
  }
  const Profile first = decode(random), second = decode(other), third = decode(activation),
                fourth = decode(next);
  const Profile after = write_and_read({&first, &second, &third, &fourth}, {});
  std::set<std::uint32_t> devices, instances;
  std::size_t cores = 0;
  for (const Unit& unit : after.units) {
    devices.insert(unit.device);
    cores += unit.engine == Engine::core;
  }
  for (const std::uint32_t instance : after.spans.instance) instances.insert(instance);
  EXPECT_THAT(devices, ElementsAre(0, 1));
  EXPECT_THAT(instances, ElementsAre(213, 214));
  EXPECT_EQ(cores, 3u * 2);
  EXPECT_EQ(after.provenance.inferences, 2u);
  // The second inference of a device runs the ops of the first.
  EXPECT_EQ(after.ops.size(), 3 * first.ops.size());
}

// --- hostile input ---

// Which slices of an op say of it what another of them says is found part by part.
TEST(OpstatsProfile, ReadsManySlicesPartByPart) {
  constexpr std::size_t slices = 40'000, ops = 500;
  const auto memory = [](std::size_t i) { return i >= ops && i % 13 == 0 ? "DDR" : "TCM"; };
  std::string json = R"([{"name": "process_name", "ph": "M", "pid": 2003,
    "args": {"name": "Program:P [QAicGraph_Core_3]"}})";
  for (std::size_t i = 0; i < slices; ++i) {
    json += fmt::format(
        R"(,{{"name": "relu-Inf-{}", "cat": "aic", "ph": "X", "pid": 2003, "tid": 4, "ts": {}, "dur": {},)"
        R"("args": {{"opKind": "relu", "opMemory": "{}", "opName": "op_{}", "opPCycle": "{}", "opUCycle": "192", "extra": {}}}}})",
        i / ops, 100 * i, i % 17 == 0 ? 20 : 10, memory(i), i % ops, i + 5, i);
  }
  const Profile profile = read(json + "]");
  const Spans& spans = profile.spans;
  ASSERT_EQ(spans.size(), slices);
  EXPECT_EQ(profile.ops.size(), ops);
  for (std::size_t i = 0; i < slices; ++i) {
    ASSERT_EQ(profile.text(profile.ops[index_of(spans.op[i])].name), fmt::format("op_{}", i % ops));
    ASSERT_EQ(spans.processor_cycles[i], std::int64_t(i + 5));
    ASSERT_EQ(spans.instance[i], i / ops);
    ASSERT_EQ(spans.start[i], std::int64_t(1'920 * i));
    ASSERT_EQ(spans.duration[i], i % 17 == 0 ? 384 : 192);
    std::vector<std::string> expected;
    if (memory(i) == std::string_view("DDR")) expected.push_back("opMemory");
    if (i % 17 == 0) expected.push_back("opUCycle");
    expected.push_back("extra");
    std::vector<std::string> names;
    for (std::size_t place = 0; place < spans.arguments.count(i); ++place) {
      names.emplace_back(profile.text(spans.arguments.at(i, place).key.name));
    }
    ASSERT_EQ(names, expected) << i;
  }
  const std::size_t drawn = slices - (slices + 16) / 17;
  EXPECT_THAT(
      checks_of(profile),
      ElementsAre(fmt::format("!duration = opUCycle / 19.2 MHz: {} of {} slices; the others "
                              "keep what they say as arguments",
                              drawn, slices)));
}

// The op is described by the slice after the wait, but not for the wait.
TEST(OpstatsProfile, AWaitBeforeTheSliceThatDescribesItsOpKeepsWhatItSays) {
  const Profile profile = read(R"([
{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "Program:P [QAicGraph_Core_0]"}},
{"name": "sync HMX-1", "ph": "X", "pid": 1, "tid": 4, "ts": 10, "dur": 1, "args": {"opKind": "sync HMX", "opName": "a", "opMemory": "TCM"}},
{"name": "relu-1", "ph": "X", "pid": 1, "tid": 4, "ts": 20, "dur": 1, "args": {"opKind": "relu", "opName": "a", "opMemory": "TCM", "opPCycle": "7", "opUCycle": "19"}},
{"name": "sync HMX-1", "ph": "X", "pid": 1, "tid": 4, "ts": 30, "dur": 1, "args": {"opKind": "sync HMX", "opName": "a", "opMemory": "TCM"}}])");
  ASSERT_EQ(profile.spans.size(), 3u);
  const auto kept = [&](std::size_t row) {
    std::string names;
    for (std::size_t place = 0; place < profile.spans.arguments.count(row); ++place) {
      names += fmt::format("{} ", profile.text(profile.spans.arguments.at(row, place).key.name));
    }
    return names;
  };
  EXPECT_THAT(kept(0), ::testing::HasSubstr("opMemory"));
  EXPECT_EQ(kept(1), "");
  EXPECT_THAT(kept(2), ::testing::Not(::testing::HasSubstr("opMemory")));
}

TEST(OpstatsProfile, SurvivesAnyArguments) {
  std::mt19937 random(7);
  const std::vector<std::string> keys{"oc",           "opName",        "opKind",
                                      "opPCycle",     "opUCycle",      "opSyncDurUs",
                                      "opOutputSize", "effectiveFreq", "opOperand0",
                                      "inference",    "TransactionId", "PortDescription"};
  const std::vector<std::string> texts{"1",
                                       "\"1\"",
                                       "-1",
                                       "\"x\"",
                                       "1e300",
                                       "null",
                                       "{}",
                                       "\"\"",
                                       "\"0->1\"",
                                       "9223372036854775807",
                                       "\"-9223372036854775808\"",
                                       "\"99999999999999999999\""};
  const std::vector<std::string> names{
      "sync HVX", "barrier HMX", "aicsoftmax-3", "Core-1-Execution", "", "x-Inf-99999999999"};
  const std::vector<std::string> tracks{
      "G_Core_1_HVX", "G_Core_1_HVX_DMA",     "G_Core_1",
      "main",         "G_Core_1_HVX_Barrier", "G_slice01_Core_4294967295_Foo"};
  const auto any = [&](const std::vector<std::string>& of) { return of[random() % of.size()]; };
  for (int i = 0; i < 300; ++i) {
    std::string json = "[";
    for (int tid = 0; tid < 6; ++tid) {
      json += fmt::format(
          R"({{"name": "thread_name", "ph": "M", "pid": 1, "tid": {}, "args": {{"name": "{}"}}}},)",
          tid, any(tracks));
    }
    for (int event = 0; event < 20; ++event) {
      const char phase = "XXXXXsftCibe"[random() % 12];
      json += fmt::format(
          R"({{"name": "{}", "cat": "true", "ph": "{}", "id": {}, "pid": 1, "tid": {}, "ts": {}, "dur": {}, "args": {{"opKind": "k")",
          any(names), phase, random() % 3, random() % 7, random() % 50, random() % 20);
      for (const std::string& key : keys) {
        if (random() % 2 == 0) json += fmt::format(R"(, "{}": {})", key, any(texts));
      }
      json += "}},";
    }
    json +=
        R"({"name": "k", "ph": "X", "pid": 1, "tid": 0, "ts": 1, "dur": 1, "args": {"opKind": "k", "opPCycle": "1"}}])";
    const Profile profile = read(json);
    EXPECT_EQ(profile.spans.unit.size(), profile.spans.size());
    for (const OpId op : profile.spans.op) {
      EXPECT_TRUE(op == OpId::none || index_of(op) < profile.ops.size());
    }
    for (const UnitId unit : profile.spans.unit) EXPECT_LT(index_of(unit), profile.units.size());
    const std::size_t rows = profile.spans.arguments.size();
    EXPECT_TRUE(rows == 0 || rows == profile.spans.size());
  }
}

}  // namespace
}  // namespace npuscope::qaic::opstats_profile_test
