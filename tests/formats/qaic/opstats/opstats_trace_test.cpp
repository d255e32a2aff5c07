#include "formats/qaic/opstats/opstats_trace.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/compressed.hpp"
#include "formats/chrome/perfetto_view.hpp"
#include "formats/qaic/opstats/opstats_host_trace.hpp"
#include "formats/qaic/opstats/opstats_summary.hpp"
#include "formats/qaic/opstats/trace_checker.hpp"
#include "formats/qaic/stats/random_buffer.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"

namespace npuscope::qaic::opstats_trace_test {
namespace {

using test::CheckedTrace;
using test::TraceChecker;
using test_support::make_random_case;
using test_support::RandomCase;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OpstatsTrace : public ::testing::Test {
 protected:
  OpstatsTrace() {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("opstats_trace_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~OpstatsTrace() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ / "x.trace.json"; }

  Profile profile_of(const RandomCase& random) const {
    const auto network =
        StatsNetwork::create(random.descriptor, &random.program, {.dependencies = true});
    auto profile = decode_stats_buffer(random.bytes(), "buffer.bin", *network);
    EXPECT_TRUE(profile) << profile.error().message;
    return std::move(*profile);
  }

  CheckedTrace write(const std::vector<const Profile*>& profiles, const TraceOptions& options) {
    const auto report = write_opstats_trace(profiles, options, path());
    EXPECT_TRUE(report) << report.error().message;
    CheckedTrace trace = TraceChecker(path()).run();
    EXPECT_THAT(trace.problems, IsEmpty());
    if (report) {
      EXPECT_EQ(report->events, trace.events.size());
      EXPECT_EQ(report->bytes, std::filesystem::file_size(path()));
    }
    return trace;
  }
  CheckedTrace write(const RandomCase& random, const TraceOptions& options = {}) {
    const Profile profile = profile_of(random);
    return write({&profile}, options);
  }
  std::string text() const {
    std::ifstream in(path());
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::filesystem::path folder_;
};

// One core with one op per group: small enough to be read as a whole.
RandomCase tiny() {
  auto random = make_random_case({.cores = 1, .ops_per_group = 1});
  auto& listed = random.descriptor.stats.ops[0];
  const auto text = [&](std::string_view of) { return random.descriptor.stats.texts.intern(of); };
  listed[0][0] = {text("/a\"b"),
                  text("elementadd "),
                  text("float16"),
                  text("TCM"),
                  {},
                  {},
                  {},
                  2048,
                  {text("in TCM x"), text("out TCM y")}};
  listed[1][0] = {text("/c"), text("aicconvolutiond32"),           text("i8"), text("TCM"), {},
                  {},         text("{Kernels: [1, 1], Group: 1}"), 1024,       {}};
  listed[2][0] = {text("/d"), text("aiccopytovtcm"), {}, text("DDR"), {}, {}, {}, 0, {}};
  const auto thread = [&](std::uint32_t key, std::uint64_t sync, std::uint32_t kernel,
                          std::uint32_t barrier, std::uint32_t transfer, std::uint32_t cycles) {
    StatsOp& op = random.buffer.ops[key][0];
    op = {};
    op.start_ticks = 1000 + sync;
    op.sync_ticks = std::uint32_t(sync);
    op.kernel_ticks = kernel;
    op.barrier_ticks = barrier;
    op.transfer_ticks = transfer;
    op.cycles = cycles;
    op.position_and_flags = StatsOp::written | (sync > 0 ? StatsOp::synced : 0) |
                            (barrier > 0 ? StatsOp::barriered : 0);
    random.buffer.threads[key].begin_ticks = 1000;
    random.buffer.threads[key].end_ticks = 2000;
    random.buffer.threads[key].begin_cycles = 0;
    random.buffer.threads[key].end_cycles = 65000;
  };
  for (std::uint32_t key = 0; key < 4; ++key) thread(key, 50 + key, 100 - 10 * key, 5, 0, 6500);
  thread(4, 0, 200, 0, 0, 13000);
  thread(5, 0, 7, 0, 300, 400);
  random.program.dependencies = {{0, 0}, {2, 1}};
  random.program.tasks[0].dependency_begin = random.program.tasks[0].dependency_count = 0;
  random.program.tasks[1].dependency_count = 0;
  random.program.tasks[2].dependency_count = 0;
  random.buffer.identity.program_fingerprint = fingerprint(random.program);
  return random;
}

TEST_F(OpstatsTrace, WholeFileOfATinyNetwork) {
  write(tiny(), {.show_barrier_events = true});
  EXPECT_EQ(
      text(),
      R"({"displayTimeUnit": "ns", "otherData": {"producer": "npuscope", "utimer_ticks_at_zero": "1000", "merged_threads": {"HVX": "4"}}, "traceEvents": [
{"name": "process_name", "ph": "M", "pid": 2000, "args": {"name": "QAicGraph_Core_0"}},
{"name": "process_sort_index", "ph": "M", "pid": 2000, "args": {"sort_index": 2000}},
{"name": "thread_name", "ph": "M", "pid": 2000, "tid": 1, "args": {"name": "QAicGraph_Core_0"}},
{"name": "thread_sort_index", "ph": "M", "pid": 2000, "tid": 1, "args": {"sort_index": 0}},
{"name": "thread_name", "ph": "M", "pid": 2000, "tid": 2, "args": {"name": "QAicGraph_Core_0_HVX"}},
{"name": "thread_sort_index", "ph": "M", "pid": 2000, "tid": 2, "args": {"sort_index": 1}},
{"name": "thread_name", "ph": "M", "pid": 2000, "tid": 3, "args": {"name": "QAicGraph_Core_0_HVX_Barrier"}},
{"name": "thread_sort_index", "ph": "M", "pid": 2000, "tid": 3, "args": {"sort_index": 1000}},
{"name": "thread_name", "ph": "M", "pid": 2000, "tid": 4, "args": {"name": "QAicGraph_Core_0_HMX"}},
{"name": "thread_sort_index", "ph": "M", "pid": 2000, "tid": 4, "args": {"sort_index": 4001}},
{"name": "thread_name", "ph": "M", "pid": 2000, "tid": 5, "args": {"name": "QAicGraph_Core_0_DMAIssue"}},
{"name": "thread_sort_index", "ph": "M", "pid": 2000, "tid": 5, "args": {"sort_index": 5001}},
{"name": "thread_name", "ph": "M", "pid": 2000, "tid": 6, "args": {"name": "QAicGraph_Core_0_DMAIssue_DMA"}},
{"name": "thread_sort_index", "ph": "M", "pid": 2000, "tid": 6, "args": {"sort_index": 5002}},
{"name": "Freq", "ph": "C", "pid": 2000, "ts": 0.0002, "args": {"FreqMHz": 1248.000000}},
{"name": "Core-0-Execution", "cat": "aic", "ph": "X", "pid": 2000, "tid": 1, "ts": 0.0002, "dur": 52.0828, "args": {"core" : "0", "opPCycle" : "65000", "opUCycle" : "1000", "effectiveFreq" : "1248.000000"}},
{"name": "sync HVX", "cat": "aic", "ph": "X", "pid": 2000, "tid": 2, "ts": 0.0002, "dur": 2.6038, "args": {"oc" : "0", "opName" : "/a\"b", "opUCycle" : "50", "opSyncDurUs" : "2.604000"}},
{"name": "elementadd", "cat": "aic", "ph": "X", "pid": 2000, "tid": 2, "ts": 2.6042, "dur": 5.2078, "args": {"oc" : "0", "opName" : "/a\"b", "opKind" : "elementadd", "opMemory" : "TCM", "opPCycle" : "6500", "PCyclesPerKB" : "3250.000000", "opUCycle" : "100", "UCyclesPerKB" : "50.000000", "effectiveFreq" : "1248.000000", "opOutputSize" : "2048", "opOperand0" : "in TCM x", "opOperand1" : "out TCM y"}},
{"name": "barrier HVX", "cat": "aic", "ph": "X", "pid": 2000, "tid": 3, "ts": 7.8122, "dur": 0.2598, "args": {"oc" : "0", "opName" : "/a\"b", "opUCycle" : "5"}},
{"name": "aicconvolutiond32", "cat": "aic", "ph": "X", "pid": 2000, "tid": 4, "ts": 0.0002, "dur": 10.4158, "args": {"oc" : "1", "opName" : "/c", "opKind" : "aicconvolutiond32", "opMemory" : "TCM", "opPCycle" : "13000", "PCyclesPerKB" : "13000.000000", "opUCycle" : "200", "UCyclesPerKB" : "200.000000", "effectiveFreq" : "1248.000000", "opOutputSize" : "1024", "opAttributes" : "{Kernels: [1, 1], Group: 1}"}},
{"name": "aiccopytovtcm", "cat": "aic", "ph": "X", "pid": 2000, "tid": 5, "ts": 0.0002, "dur": 0.3638, "args": {"oc" : "2", "opName" : "/d", "opKind" : "aiccopytovtcm", "opMemory" : "DDR", "opPCycle" : "400", "opUCycle" : "7", "effectiveFreq" : "1097.142857", "opOutputSize" : "0"}},
{"name": "aiccopytovtcm", "cat": "aic", "ph": "X", "pid": 2000, "tid": 6, "ts": 0.0002, "dur": 15.6248, "args": {"oc" : "2", "opName" : "/d", "opKind" : "aiccopytovtcm", "opMemory" : "DDR", "opUCycle" : "300", "opOutputSize" : "0"}}
]}
)");
}

TEST_F(OpstatsTrace, NoViewerSeesAnOverlapOrALooseArrow) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const auto random =
        make_random_case({.seed = seed, .cores = std::uint32_t(1 + seed % 3), .ops_per_group = 40});
    for (const bool merge : {true, false}) {
      write(random,
            {.merge_thread_groups = merge, .flow_events = true, .show_barrier_events = true});
    }
  }
}

TEST_F(OpstatsTrace, MergedTracksAddUpToTheSummary) {
  const auto random = make_random_case({.seed = 5, .cores = 2, .ops_per_group = 80});
  const Profile profile = profile_of(random);
  const CheckedTrace trace = write({&profile}, {});
  for (const OpstatsCore& core : summarise(profile).cores) {
    for (const OpstatsRow& row : core.rows) {
      if (row.type == OpstatsRow::Type::barrier) continue;
      std::uint64_t count = 0, pcycles = 0;
      const std::string track = "QAicGraph_Core_" + std::to_string(core.core) + "_" + row.group;
      for (const auto& slice : trace.slices(track)) {
        if (row.type == OpstatsRow::Type::sync) {
          count += slice["name"] == "sync " + row.group;
          continue;
        }
        if (slice["name"] != row.kind || slice["args"]["opMemory"] != row.memory) continue;
        const auto& listed = random.descriptor.stats.ops[core.core];
        const auto number = std::stoul(slice["args"]["oc"].get<std::string>());
        const StringId types = listed[number / 80][number % 80].type;
        if (random.descriptor.stats.texts[types] != row.types) continue;
        count += 1;
        pcycles += std::stoull(slice["args"]["opPCycle"].get<std::string>());
      }
      EXPECT_EQ(count, row.count) << row.details();
      EXPECT_EQ(pcycles, row.pcycles) << row.details();
    }
  }
}

// Per thread every slice is there to a fraction of a tick (52 ns), and a wait ends where its op
// starts. An op that took no tick is 3 ns long, and what follows begins so much later.
TEST_F(OpstatsTrace, UnmergedTracksShowEveryRecord) {
  const auto random = make_random_case({.seed = 8, .cores = 1, .ops_per_group = 50});
  const CheckedTrace trace = write(random, {.merge_thread_groups = false});
  const std::vector<std::string> tracks{"HVX_T0", "HVX_T1", "HVX_T2", "HVX_T3", "HMX", "DMAIssue"};
  const double shortest = 0.003;
  const double rounding = 0.0015;
  std::uint64_t origin = UINT64_MAX;
  for (const StatsThread& thread : random.buffer.threads) {
    origin = std::min(origin, thread.begin_ticks);
  }
  for (std::size_t key = 0; key < 6; ++key) {
    const auto slices = trace.slices("QAicGraph_Core_0_" + tracks[key]);
    std::size_t next = 0;
    for (const StatsOp& op : random.buffer.ops[key]) {
      const double start = double(op.start_ticks - origin) / 19.2;
      if (op.position_and_flags & StatsOp::synced) {
        const auto& wait = slices.at(next++);
        EXPECT_NEAR(double(wait["ts"]) + double(wait["dur"]), start, shortest + rounding);
        EXPECT_NEAR(double(wait["dur"]), op.sync_ticks / 19.2, shortest + rounding);
        const double recorded = std::stod(wait["args"]["opSyncDurUs"].get<std::string>());
        EXPECT_NEAR(recorded, double(wait["dur"]), 0.0005);
      }
      const auto& slice = slices.at(next++);
      EXPECT_EQ(slice["args"]["oc"],
                std::to_string(key < 4 ? op.position() : (key - 3) * 50 + op.position()));
      EXPECT_NEAR(double(slice["ts"]), start, shortest + rounding);
      EXPECT_NEAR(double(slice["dur"]), std::max(shortest, op.kernel_ticks / 19.2),
                  shortest + rounding);
    }
    EXPECT_EQ(next, slices.size());
  }
}

TEST_F(OpstatsTrace, FlowsDrawEveryDependencyThatTimeAllows) {
  const auto random = make_random_case({.seed = 3, .cores = 2, .ops_per_group = 40});
  const Profile profile = profile_of(random);
  const CheckedTrace trace = write({&profile}, {.flow_events = true});
  std::map<bool, int> drawn;
  for (const auto& event : trace.events) {
    if (event["ph"] == "s") drawn[event["cat"] == "true"] += 1;
  }
  // Random dependencies ignore time; at least those must be drawn whose consumer begins after its
  // producer has ended.
  std::map<OpId, std::pair<std::int64_t, std::int64_t>> times;  // start, end over all threads
  for (std::size_t i = 0; i < profile.spans.size(); ++i) {
    const SpanKind kind = profile.spans.kind[i];
    if (kind != SpanKind::op && kind != SpanKind::transfer) continue;
    auto& [start, end] = times.try_emplace(profile.spans.op[i], INT64_MAX, 0).first->second;
    start = std::min(start, profile.spans.start[i]);
    end = std::max(end, profile.spans.start[i] + profile.spans.duration[i]);
  }
  std::map<bool, int> certain;
  for (const Edge& edge : profile.edges) {
    certain[edge.kind == EdgeKind::data] += times[edge.from].second < times[edge.to].first;
  }
  for (const bool is_data : {true, false}) {
    EXPECT_GT(certain[is_data], 0);
    EXPECT_GE(drawn[is_data], certain[is_data]);
  }
  for (const auto& event : write({&profile}, {}).events) EXPECT_NE(event["ph"], "s");
}

// Where a thread of a group runs ahead, the merged slice has its beginning or all of it cut off.
TEST_F(OpstatsTrace, ArrowsOfClippedKernelsDidNotBindToTheNextSlice) {
  std::size_t checked = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto random = make_random_case({.seed = seed, .cores = 2, .ops_per_group = 100});
    const Profile profile = profile_of(random);
    std::multiset<std::string> dependencies;  // "core op -> core op kind"
    const auto place = [&](OpId id) {
      const Op& op = profile.ops[index_of(id)];
      return fmt::format("{} {}", op.core, op.group * 100 + op.position);
    };
    for (const Edge& edge : profile.edges) {
      dependencies.insert(fmt::format("{} -> {} {}", place(edge.from), place(edge.to),
                                      edge.kind == EdgeKind::data ? "true" : "false"));
    }
    const CheckedTrace trace = write({&profile}, {.flow_events = true});
    const auto place_of_slice = [](const nlohmann::json* slice) {
      return slice == nullptr ? "nowhere"
                              : fmt::format("{} {}", slice->at("pid").get<int>() - 2000,
                                            slice->at("args").at("oc").get<std::string>());
    };
    for (const auto read : {test::nanoseconds_cut, test::nanoseconds_rounded, test::as_double}) {
      auto left = dependencies;
      for (const test::BoundFlow& flow : test::bind_flows(trace.events, read)) {
        const std::string joined =
            fmt::format("{} -> {} {}", place_of_slice(flow.from), place_of_slice(flow.to),
                        flow.tail->at("cat").get<std::string>());
        const auto found = left.find(joined);
        ASSERT_NE(found, left.end()) << joined << " is no dependency: " << *flow.head;
        left.erase(found);
        checked += 1;
      }
    }
  }
  EXPECT_GT(checked, 1000u);
}

// Waits of no length began with their ops, and Perfetto gave the ops' arrows to them.
TEST_F(OpstatsTrace, ArrowsTouchedWaitsInPerfetto) {
  std::size_t arrows = 0, empty = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto random = make_random_case({.seed = seed, .cores = 2, .ops_per_group = 100});
    const Profile profile = profile_of(random);
    std::multiset<std::string> dependencies;
    for (const Edge& edge : profile.edges) {
      dependencies.insert(fmt::format("{} -> {}",
                                      profile.text(profile.ops[index_of(edge.from)].name),
                                      profile.text(profile.ops[index_of(edge.to)].name)));
    }
    const CheckedTrace trace =
        write({&profile}, {.flow_events = true, .show_barrier_events = true});
    const auto drawn = std::ranges::count_if(
        trace.events, [](const nlohmann::json& event) { return event["ph"] == "s"; });
    for (const auto read : {test::nanoseconds_cut, test::nanoseconds_rounded}) {
      auto left = dependencies;
      const auto view = npuscope::test::as_perfetto_sees(trace.events, read);
      EXPECT_EQ(view.lost, 0u);
      EXPECT_EQ(view.arrows.size(), std::size_t(drawn));
      for (const auto& arrow : view.arrows) {
        ASSERT_FALSE(arrow.from->at("name").get<std::string>().starts_with("sync")) << *arrow.from;
        ASSERT_FALSE(arrow.to->at("name").get<std::string>().starts_with("sync")) << *arrow.to;
        const std::string joined =
            fmt::format("{} -> {}", arrow.from->at("args").at("opName").get<std::string>(),
                        arrow.to->at("args").at("opName").get<std::string>());
        const auto found = left.find(joined);
        ASSERT_NE(found, left.end()) << joined << " is no dependency";
        left.erase(found);
        arrows += 1;
      }
      for (const auto& [event, depth] : view.depth) {
        EXPECT_EQ(depth, 0u) << *event;
        empty += event->at("dur") == 0;
      }
    }
  }
  EXPECT_GT(arrows, 1000u);
  EXPECT_GT(empty, 10u);
}

TEST_F(OpstatsTrace, TransfersThatOverlapGetTracksOfTheirOwn) {
  auto random = make_random_case({.cores = 1, .ops_per_group = 10});
  for (StatsOp& op : random.buffer.ops[5]) op.transfer_ticks = 2000;
  const CheckedTrace trace = write(random);
  EXPECT_TRUE(trace.tracks().contains("QAicGraph_Core_0_DMAIssue_DMA"));
  EXPECT_TRUE(trace.tracks().contains("QAicGraph_Core_0_DMAIssue_DMA_1"));
  std::size_t transfers = 0;
  for (const std::string& track : trace.tracks()) {
    if (track.find("_DMA") != track.npos && !track.ends_with("_DMAIssue")) {
      transfers += trace.slices(track).size();
    }
  }
  EXPECT_EQ(transfers, 10u);
}

TEST_F(OpstatsTrace, ChosenCoresAndDevices) {
  const auto random = make_random_case({.cores = 4});
  const CheckedTrace trace = write(random, {.cores = {3, 1}});
  for (const std::string& track : trace.tracks()) {
    EXPECT_TRUE(track.starts_with("QAicGraph_Core_1") || track.starts_with("QAicGraph_Core_3"));
  }
  std::set<long> pids;
  for (const auto& event : trace.events) pids.insert(event["pid"].get<long>());
  EXPECT_EQ(pids, (std::set<long>{2001, 2003})) << "numbers do not depend on the choice";
  const Profile profile = profile_of(random);
  const Profile* profiles[] = {&profile};
  for (const TraceOptions& nothing : {TraceOptions{.cores = {4}}, TraceOptions{.devices = {1}}}) {
    const auto report = write_opstats_trace(profiles, nothing, path());
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind, ErrorKind::usage);
    EXPECT_THAT(report.error().message, HasSubstr("--select-"));
  }
}

TEST_F(OpstatsTrace, SeveralInferencesActivationsAndDevices) {
  std::vector<RandomCase> cases;
  for (std::uint32_t i = 0; i < 8; ++i) {
    cases.push_back(make_random_case({.seed = 20, .cores = 2, .ops_per_group = 15}));
    auto& buffer = cases.back().buffer;
    buffer.identity.inference = i / 4;
    buffer.identity.activation = i / 2 % 2;
    buffer.identity.device = i % 2;
    // The second inference begins while the slowest threads of the first still run.
    const std::uint64_t later = i / 4 * 4000;
    for (StatsThread& thread : buffer.threads) {
      thread.begin_ticks += later;
      thread.end_ticks += later;
    }
    for (auto& ops : buffer.ops) {
      for (StatsOp& op : ops) op.start_ticks += later;
    }
  }
  std::vector<Profile> profiles;
  for (const RandomCase& random : cases) profiles.push_back(profile_of(random));
  std::vector<const Profile*> pointers;
  for (const Profile& profile : profiles) pointers.push_back(&profile);
  const CheckedTrace trace = write(pointers, {.flow_events = true});
  std::set<std::string> processes;
  for (const auto& event : trace.events) {
    if (event["name"] == "process_name") processes.insert(event["args"]["name"]);
    if (event["ph"] == "X") {
      EXPECT_TRUE(event["args"].contains("inference"));
    }
  }
  EXPECT_EQ(processes.size(), 8u) << "2 devices, 2 activations, 2 cores";
  EXPECT_TRUE(processes.contains("QAicGraph_Core_1 device 0 activation 1"));
}

TEST_F(OpstatsTrace, NamesAreData) {
  auto random = make_random_case({.cores = 1, .ops_per_group = 5, .network = "g\"\n</script>"});
  StringPool& texts = random.descriptor.stats.texts;
  for (auto& group : random.descriptor.stats.ops[0]) {
    for (OpNameKind& op : group) {
      op.name = texts.intern("a\"b\\c\nd\xff\x01");
      op.kind = texts.intern("k\",\"ph\":\"M");
      op.attributes = texts.intern("{x: \"}");
      op.operands = {texts.intern("in \""), texts.intern("out \\")};
    }
  }
  const CheckedTrace trace = write(random);
  bool found = false;
  for (const auto& event : trace.events) {
    if (event["ph"] != "X" || !event["args"].contains("opKind")) continue;
    EXPECT_EQ(event["args"]["opName"], "a\"b\\c\nd\xEF\xBF\xBD\x01");
    EXPECT_EQ(event["name"], "k\",\"ph\":\"M");
    EXPECT_EQ(event["args"]["opOperand1"], "out \\");
    found = true;
  }
  EXPECT_TRUE(found);
}

TEST_F(OpstatsTrace, TransfersBetweenDevicesNameTheirPorts) {
  auto random = make_random_case({.cores = 1, .ops_per_group = 2});
  random.descriptor.stats.ops[0][2][1].attributes = random.descriptor.stats.texts.intern(
      "{PortType: P2P, PortDescription: 0->1, TransactionId: 17}");
  const CheckedTrace trace = write(random);
  const auto slices = trace.slices("QAicGraph_Core_0_DMAIssue");
  EXPECT_FALSE(slices.front()["args"].contains("PortType"));
  EXPECT_EQ(slices.back()["args"]["PortType"], "P2P");
  EXPECT_EQ(slices.back()["args"]["PortDescription"], "0->1");
  EXPECT_EQ(slices.back()["args"]["TransactionId"], "17");
}

TEST_F(OpstatsTrace, SameInputSameBytes) {
  const auto random = make_random_case({.seed = 2, .cores = 4, .ops_per_group = 3000});
  const Profile profile = profile_of(random);
  const Profile* profiles[] = {&profile};
  const TraceOptions options{.flow_events = true, .show_barrier_events = true};
  ASSERT_TRUE(write_opstats_trace(profiles, options, path()));
  const std::string first = text();
  ASSERT_TRUE(write_opstats_trace(profiles, options, path()));
  EXPECT_EQ(text(), first);
}

TEST_F(OpstatsTrace, AnUnwritableFileIsAnOutputError) {
  const Profile profile = profile_of(make_random_case({}));
  const Profile* profiles[] = {&profile};
  const auto report = write_opstats_trace(profiles, {}, folder_ / "missing" / "x.json");
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::output);
}

HostTrace host_of(const std::string& json) {
  auto host = parse_host_trace(as_byte_span(json), "host.json");
  EXPECT_TRUE(host) << host.error().message;
  return host ? std::move(*host) : HostTrace{};
}

const std::string host_json = R"({"otherData": {"note": 1}, "traceEvents": [
  {"name": "process_name", "ph": "M", "pid": 2000, "args": {"name": "host \"app\""}},
  {"name": "thread_name", "ph": "M", "pid": 2000, "tid": 9, "args": {"name": "main"}},
  {"name":"enqueue","ph":"X","ts":1000000.25,"dur":5,"pid":2000,"tid":9,
   "args":{"pid":"2000","nested":{"ts":7}}},
  {"name":"other","ph":"X","ts":1000007.5,"dur":1,"pid":77,"tid":9,"args":{}}
]})";

TEST_F(OpstatsTrace, HostEventsJoinWithoutTakingDeviceProcesses) {
  const HostTrace host = host_of(host_json);
  const CheckedTrace plain = write(make_random_case({.cores = 2}));
  const Profile profile = profile_of(make_random_case({.cores = 2}));
  const auto report = write_opstats_trace(std::vector{&profile}, {.host_trace = &host}, path());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->events, plain.events.size() + 4);
  EXPECT_THAT(text(), HasSubstr(R"(
{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "host \"app\""}},
{"name": "thread_name", "ph": "M", "pid": 1, "tid": 9, "args": {"name": "main"}},
{"name":"enqueue","ph":"X","ts":0.25,"dur":5,"pid":1,"tid":9,    "args":{"pid":"2000","nested":{"ts":7}}},
{"name":"other","ph":"X","ts":7.5,"dur":1,"pid":77,"tid":9,"args":{}}
]}
)"));
}

// Real traces of hosts come as .json.gz, with a byte order mark, or from a writer that was stopped.
TEST_F(OpstatsTrace, HostTracesMayBeCompressedOrOpenAtTheEnd) {
  const std::string event = R"({"name":"h","ph":"X","ts":10,"dur":1,"pid":1,"tid":1})";
  const std::string array = "[" + event + "]";
  for (const std::string& json : {array, "\xEF\xBB\xBF" + array, "[" + event, "[" + event + ",\n",
                                  npuscope::test::gzip(array), npuscope::test::zstd(array)}) {
    const HostTrace host = host_of(json);
    ASSERT_EQ(host.events.size(), 1u);
    EXPECT_EQ(host.events[0].text, event);
    EXPECT_EQ(host.first_microseconds, 10);
  }
  std::ofstream(path(), std::ios::binary) << npuscope::test::gzip(array);
  const auto from_file = read_host_trace(path());
  ASSERT_TRUE(from_file) << from_file.error().message;
  EXPECT_EQ(from_file->events.size(), 1u);
}

TEST_F(OpstatsTrace, HostTimesWithAKnownTickAreAligned) {
  // Host 0 µs is 19,200 ticks (1 ms) before the device's first tick, and 50 µs later.
  const Profile profile = profile_of(tiny());
  for (const std::int64_t host_zero : {-182, 1960}) {
    HostTrace host = host_of(R"([{"name":"h","ph":"X","ts":10,"dur":1,"pid":1,"tid":1}])");
    host.utimer_ticks_at_zero = 1000 + host_zero;
    ASSERT_TRUE(write_opstats_trace(std::vector{&profile}, {.host_trace = &host}, path()));
    const auto trace = nlohmann::json::parse(text());
    double device = -1, host_time = -1;
    for (const auto& event : trace["traceEvents"]) {
      if (event["name"] == "Core-0-Execution") device = event["ts"];
      if (event["name"] == "h") host_time = event["ts"];
    }
    EXPECT_NEAR(host_time - device, double(host_zero) / 19.2 + 10, 0.002);
    EXPECT_GE(std::min(host_time, device), 0);
    EXPECT_LT(std::min(host_time, device), 5.001);  // 96 ticks
    // The head of the file says which tick that is, so that a reader finds the device's own ticks.
    const std::int64_t zero =
        std::stoll(trace["otherData"]["utimer_ticks_at_zero"].get<std::string>());
    EXPECT_NEAR(double(1000 - zero) / 19.2, device, 0.002);
    EXPECT_NEAR(double(1000 + host_zero - zero) / 19.2 + 10, host_time, 0.002);
  }
}

TEST_F(OpstatsTrace, HostTimesThatCannotBeAlignedOverflowed) {
  auto random = make_random_case({});
  random.buffer.identity.utimer_khz = 1000;
  const Profile profile = profile_of(random);
  HostTrace host = host_of(R"([{"name":"h","ph":"X","ts":10,"dur":1,"pid":1,"tid":1}])");
  host.utimer_ticks_at_zero = std::int64_t{1} << 56;
  const auto report = write_opstats_trace(std::vector{&profile}, {.host_trace = &host}, path());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::input);
  EXPECT_THAT(report.error().message, HasSubstr("is tick 72057594037927936 but the device begins"));
}

TEST_F(OpstatsTrace, TimersOfDifferentRatesCannotShareATrace) {
  auto slow = make_random_case({});
  slow.buffer.identity.utimer_khz = 9600;
  const Profile one = profile_of(make_random_case({})), other = profile_of(slow);
  const auto report = write_opstats_trace(std::vector{&one, &other}, {}, path());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message,
            "timers of 19200 and 9600 kHz cannot share a trace; write one for each device "
            "(--merge-mq-traces=false)");
  EXPECT_FALSE(std::filesystem::exists(path()));
}

// Viewers take both for numbers, so the device's process was joined by the host's.
TEST_F(OpstatsTrace, QuotedHostNumbersAreNumbers) {
  const HostTrace host =
      host_of(R"([{"name":"h","ph":"X","ts":"1000.5" ,"dur":1,"pid":"2000" ,"tid":1}])");
  const Profile profile = profile_of(make_random_case({}));
  ASSERT_TRUE(write_opstats_trace(std::vector{&profile}, {.host_trace = &host}, path()));
  EXPECT_THAT(text(), HasSubstr(R"({"name":"h","ph":"X","ts":"0.5" ,"dur":1,"pid":"1" ,"tid":1})"));
}

// Begin and length were rounded each for itself.
TEST_F(OpstatsTrace, HostSlicesOverlappedByANanosecond) {
  const HostTrace host =
      host_of(R"([{"name":"a","ph":"X","ts":10.0006,"dur":1.0006,"pid":1,"tid":1},
                  {"name":"b","ph":"X","ts":11.0012,"dur":0.0004,"pid":1,"tid":1}])");
  const Profile profile = profile_of(make_random_case({}));
  ASSERT_TRUE(write_opstats_trace(std::vector{&profile}, {.host_trace = &host}, path()));
  EXPECT_THAT(text(), HasSubstr(R"("ts":0.001,"dur":1,)"));
  EXPECT_THAT(text(), HasSubstr(R"("ts":1.001,"dur":0.001,)"));
}

TEST_F(OpstatsTrace, HostFlowIdsStayApart) {
  const HostTrace host =
      host_of(R"([{"name":"a","ph":"s","id":41,"ts":1,"pid":1,"tid":1,"cat":"true"},
                  {"name":"a","ph":"f","id":"0x28","ts":2,"pid":1,"tid":1,"cat":"true"}])");
  EXPECT_EQ(host.largest_flow_id, 41u);
  const Profile profile = profile_of(make_random_case({}));
  ASSERT_TRUE(write_opstats_trace(std::vector{&profile}, {.flow_events = true, .host_trace = &host},
                                  path()));
  EXPECT_THAT(text(), HasSubstr("\"id\": 42,"));
  EXPECT_THAT(text(), ::testing::Not(HasSubstr("\"id\": 41,")));
}

TEST_F(OpstatsTrace, BrokenHostTracesAreRefused) {
  const auto refuse = [](const std::string& json) {
    const auto host = parse_host_trace(as_byte_span(json), "host.json");
    return host ? std::string("accepted") : host.error().message;
  };
  EXPECT_THAT(refuse(""), HasSubstr("host.json: an empty file"));
  EXPECT_THAT(refuse("{\"traceEvents\": [{\"name\": tru}]}"), HasSubstr("not a JSON trace"));
  EXPECT_THAT(refuse("{\"traceEvents\": [{]}"), HasSubstr("not a JSON trace"));
  EXPECT_THAT(refuse("{}"), HasSubstr("host.json: has no traceEvents"));
  EXPECT_THAT(refuse("7"), HasSubstr("has no traceEvents"));
  EXPECT_THAT(refuse("[1]"), HasSubstr("event 0 is not an object"));
  EXPECT_THAT(refuse("[{\"ts\": \"soon\"}]"), HasSubstr("has the time"));
  EXPECT_THAT(refuse("[{\"ts\": 1e300}]"), HasSubstr("has the time"));
  EXPECT_THAT(refuse("[{\"ts\": \"1e400\"}]"), HasSubstr("has the time"));
  EXPECT_THAT(refuse("[{\"ts\": \"12 apples\"}]"), HasSubstr("has the time"));
  for (const std::string tick : {"\"x\"", "1.5", "-1", "99999999999999999999", "null", "\"1"}) {
    EXPECT_THAT(
        refuse("{\"otherData\": {\"utimer_ticks_at_zero\": " + tick + "}, \"traceEvents\": []}"),
        ::testing::AnyOf(HasSubstr("utimer_ticks_at_zero is not a count"),
                         HasSubstr("not a JSON trace")))
        << tick;
  }
  EXPECT_THAT(refuse(std::string(100000, '[')), HasSubstr("not a JSON trace"));
}

}  // namespace
}  // namespace npuscope::qaic::opstats_trace_test
