// What makes naive readers of these files wrong, a test for each trap.
#include <fmt/format.h>

#include <algorithm>

#include "formats/qnn/generated_run.hpp"
#include "formats/qnn/scratch_files.hpp"

namespace npuscope::qnn::traps_test {
namespace {

using test::column;
using test::GeneratedRun;
using test::noted;
using test::op_trace_of;
using test::qhas_of;
using test::run_trace_of;
using test::small_run;
using test::values_of;

class QnnTraps : public test::ScratchFiles {
 protected:
  Profile of_trace(const GeneratedRun& run) {
    return read_one({write("trace.json", op_trace_of(run))});
  }
};

// Every event stands in the overview and again in its op's process.
TEST_F(QnnTraps, DuplicateProcessTracksAreCountedOnce) {
  const GeneratedRun run = small_run();
  const Profile profile = of_trace(run);
  ASSERT_EQ(profile.spans.size(), 3u);
  std::int64_t work = 0;
  for (const std::int64_t cycles : profile.spans.duration) work += cycles;
  EXPECT_EQ(work, run.cycles());
  EXPECT_EQ(noted(profile, "repeat those of the core's overview"), 3u);
}

TEST_F(QnnTraps, AnEventThatOnlyItsOpsProcessHasIsKept) {
  std::string text = op_trace_of(small_run());
  const std::size_t overview = text.find("\"pid\": 0, \"ts\": 82");
  ASSERT_NE(overview, std::string::npos);
  const std::size_t line = text.rfind('\n', overview) + 1;
  text.erase(line, text.find('\n', overview) + 1 - line);
  const Profile profile = read_one({write("trace.json", text)});
  EXPECT_EQ(profile.spans.size(), 3u);
  EXPECT_EQ(noted(profile, "the core's overview does not repeat; kept"), 1u);
  EXPECT_EQ(profile.text(profile.units[index_of(profile.spans.unit[2])].name), "HMX 256");
}

// As tools other than QNN's write it; a note of the processes' events would be about nothing.
TEST_F(QnnTraps, ATraceWithoutAnOverviewIsCountedOnce) {
  const GeneratedRun run = small_run();
  std::string text = op_trace_of(run);
  for (std::size_t at = 0; (at = text.find("\"pid\": 0,", at)) != text.npos;) {
    const std::size_t line = text.rfind('\n', at) + 1;
    text.erase(line, text.find('\n', at) + 1 - line);
    at = line;
  }
  const Profile profile = read_one({write("trace.json", text)});
  EXPECT_EQ(profile.spans.size(), 3u);
  EXPECT_EQ(noted(profile, "the core's overview does not repeat"), 0u);
  EXPECT_EQ(noted(profile, "no core's overview"), 1u);
}

// An op that writes no flags counts for the hardware that its lane is named after.
TEST_F(QnnTraps, OpsWithoutFlagsRunOnWhatTheirLaneIsOf) {
  const std::string text = op_trace_of(small_run());
  std::string bare = text;
  for (std::size_t at = 0; (at = bare.find("\"Flags\": [", at)) != bare.npos;) {
    bare.erase(at, bare.find("],", at) + 2 - at);
  }
  ASSERT_LT(bare.size(), text.size());
  const Profile whole = read_one({write("trace.json", text)});
  const Profile profile = read_one({write("trace.json", bare)});
  ASSERT_EQ(profile.spans.size(), whole.spans.size());
  std::vector<Engine> engines;
  for (std::size_t i = 0; i < profile.spans.size(); ++i) {
    const Op& op = profile.ops[index_of(profile.spans.op[i])];
    EXPECT_EQ(op.engine, whole.ops[index_of(whole.spans.op[i])].engine) << i;
    EXPECT_EQ(op.attributes, StringId::empty);
    engines.push_back(op.engine);
  }
  EXPECT_EQ(std::ranges::count(engines, Engine::hvx), 2);
  EXPECT_EQ(std::ranges::count(engines, Engine::hmx), 1);
  ASSERT_NE(column(profile, "dominant path"), nullptr);
  EXPECT_EQ(column(profile, "dominant path")->values, column(whole, "dominant path")->values);
}

// They stand a few cycles before their consumer, last 5 cycles and would stretch the graph's wall.
TEST_F(QnnTraps, FabricatedTimesOfNonExecutedTensorsAreNoSpans) {
  const GeneratedRun run = small_run();
  const Profile profile = of_trace(run);
  EXPECT_EQ(*std::min_element(profile.spans.start.begin(), profile.spans.start.end()),
            run.first_start());
  for (const Op& op : profile.ops) EXPECT_NE(profile.text(op.kind), "$Const");
  const auto constant =
      std::find_if(profile.tensors.begin(), profile.tensors.end(),
                   [](const Tensor& tensor) { return tensor.id == 0x100200000012; });
  ASSERT_NE(constant, profile.tensors.end());
  EXPECT_TRUE(constant->is_constant);
  EXPECT_EQ(profile.text(constant->name), "$Const_12");
  EXPECT_EQ(profile.text(constant->shape), "[1,1,8,8]");
  EXPECT_EQ(constant->size.value, 64);
}

// The arguments of all slices repeat one slice's cycles.
TEST_F(QnnTraps, SlicedOpsTakeTheirTimesFromTsDurAndTid) {
  const GeneratedRun run = small_run();
  const Profile profile = of_trace(run);
  ASSERT_EQ(profile.spans.size(), 3u);
  for (std::size_t slice = 0; slice < 2; ++slice) {
    EXPECT_EQ(profile.spans.start[slice], run.ops[0].slices[slice].start);
    EXPECT_EQ(profile.spans.duration[slice], run.ops[0].slices[slice].cycles);
    EXPECT_EQ(profile.spans.op[slice], OpId{0});
  }
  EXPECT_NE(profile.spans.unit[0], profile.spans.unit[1]);
  EXPECT_TRUE(profile.ops[0].once_per_inference);
  const MeasureColumn* path = column(profile, "dominant path");
  ASSERT_NE(path, nullptr);
  EXPECT_EQ(path->values[0], run.ops[0].slices[0].dominant_path);
  EXPECT_EQ(path->values[1], run.ops[0].slices[1].dominant_path);
  EXPECT_NE(path->values[0], path->values[1]);
  // Packets are known for the slice that the arguments are of.
  const MeasureColumn* packets = column(profile, "packets");
  ASSERT_NE(packets, nullptr);
  EXPECT_EQ(packets->values[0], 20);
  EXPECT_EQ(packets->values[1], MeasureColumn::missing);
  EXPECT_EQ(noted(profile, "repeat another slice's cycles"), 1u);
}

TEST_F(QnnTraps, SlicedOpsFindTheirPacketsInQhasByThreadAndStart) {
  const GeneratedRun run = small_run();
  const Profile profile =
      read_one({write("trace.json", op_trace_of(run)), write("qhas.json", qhas_of(run))});
  const MeasureColumn* packets = column(profile, "packets");
  ASSERT_NE(packets, nullptr);
  EXPECT_EQ(packets->values[0], 20);
  EXPECT_EQ(packets->values[1], 10);
  const MeasureColumn* bytes = column(profile, "vtcm read bytes");
  ASSERT_NE(bytes, nullptr);
  EXPECT_EQ(bytes->values[0], 64);
  EXPECT_EQ(bytes->values[1], 32);
}

// Even when most slices start together, away from the one whose cycles the arguments are.
TEST_F(QnnTraps, TheBaseIsWhatMostOpsAgreeOnNotMostEvents) {
  GeneratedRun run = small_run();
  for (const std::int64_t tid : {514, 515, 516, 517}) {
    run.lanes.emplace_back(tid, "HVX");
    run.ops[0].slices.push_back({tid, run.base + 27, 50, 10, 0, 0, 0, 0, 0});
  }
  const Profile profile = of_trace(run);
  EXPECT_EQ(profile.spans.start[0], run.ops[0].slices[0].start);
  EXPECT_EQ(profile.spans.start[1], run.base + 27);
}

// Lane 256 "HMX" is the main thread: DMA, waits and scalar code run there too.
TEST_F(QnnTraps, LanesNamedHmxCarryDma) {
  GeneratedRun run = small_run();
  const auto add = [&](const char* flag, std::int64_t start) {
    run.ops.push_back({std::uint64_t(0x2000 + start) << 32,
                       "q::weights_to_vtcm",
                       "MatMul_0",
                       "FullyConnected",
                       flag,
                       "QInt8",
                       {},
                       {},
                       {}});
    run.ops.back().slices.push_back({256, run.base + start, 10, 2, 0, 0, 0, 0, 0});
  };
  add("dma", 300);
  add("dma_wait", 320);
  add("dma_set", 340);
  add("sync", 360);
  const Profile profile = of_trace(run);
  ASSERT_EQ(profile.spans.size(), 7u);
  const auto engine = [&](std::size_t row) {
    return profile.ops[index_of(profile.spans.op[row])].engine;
  };
  EXPECT_EQ(profile.units[index_of(profile.spans.unit[3])].engine, Engine::hmx);
  EXPECT_EQ(engine(2), Engine::hmx);
  EXPECT_EQ(engine(3), Engine::dma);
  EXPECT_EQ(engine(4), Engine::dma);
  EXPECT_EQ(engine(5), Engine::dma);
  EXPECT_EQ(engine(6), Engine::other);
  EXPECT_EQ(profile.spans.kind[3], SpanKind::op);
  EXPECT_EQ(profile.spans.kind[4], SpanKind::dma_wait);
  EXPECT_EQ(profile.spans.kind[6], SpanKind::sync);
}

// SDK 2.47: 256 is DMA, 768 is HMX. Names tell, numbers do not.
TEST_F(QnnTraps, ThreadNumbersDoNotTellTheLane) {
  GeneratedRun run = small_run();
  run.lanes = {{256, "DMA"}, {512, "HVX"}, {513, "HVX"}, {768, "HMX"}};
  run.ops[1].slices[0].tid = 768;
  const Profile profile = of_trace(run);
  const Unit& unit = profile.units[index_of(profile.spans.unit[2])];
  EXPECT_EQ(unit.engine, Engine::hmx);
  EXPECT_EQ(profile.text(unit.name), "HMX 768");
}

TEST_F(QnnTraps, AnUnknownLaneIsKeptAndNoted) {
  GeneratedRun run = small_run();
  run.lanes[0].second = "XYZ";
  const Profile profile = of_trace(run);
  EXPECT_EQ(profile.spans.size(), 3u);
  EXPECT_EQ(noted(profile, "lane 256 is of unknown type 'XYZ'"), 1u);
}

TEST_F(QnnTraps, TicksLabelledMicrosecondsAreTicks) {
  const GeneratedRun run = small_run();
  const Profile profile = read_one({write("profile.txt", test::viewer_text_of(run))});
  const auto phase =
      std::find_if(profile.phases.begin(), profile.phases.end(), [&](const Phase& candidate) {
        return profile.text(candidate.name) == "Time for initial VTCM acquire";
      });
  ASSERT_NE(phase, profile.phases.end());
  EXPECT_DOUBLE_EQ(phase->microseconds, 10.0);  // 192 ticks of 19.2 MHz
  EXPECT_EQ(phase->duration, 10'000);           // nanoseconds
  for (const Measure& measure : profile.measures) {
    if (profile.text(measure.what) != "Time for initial VTCM acquire") continue;
    EXPECT_EQ(profile.clocks[index_of(measure.clock)].rate.value, 19.2e6);
    EXPECT_EQ(measure.value, 192);
  }
}

// ts and dur of RUN_TRACE are ticks; its phases have rates of their own.
TEST_F(QnnTraps, PhasesAreTimedByTicksAndCyclesOfTheSamePhase) {
  const GeneratedRun run = small_run();
  const Profile profile = read_one({write("run.json", run_trace_of(run))});
  ASSERT_EQ(profile.phases.size(), 3u);
  const Phase& graph = profile.phases[2];
  EXPECT_EQ(profile.text(graph.name), "Graph Execute");
  EXPECT_EQ(graph.start, run.base);
  EXPECT_EQ(graph.duration, 200);                                         // cycles
  EXPECT_DOUBLE_EQ(graph.microseconds, 20.0);                             // 384 ticks
  EXPECT_EQ(profile.clocks[index_of(profile.base_clock)].rate.value, 0);  // no rate for all
}

// They count the bytes of the ops that are running, under the empty key.
TEST_F(QnnTraps, CountersAreBytesInFlight) {
  const GeneratedRun run = small_run();
  const Profile profile = of_trace(run);
  std::vector<std::string> names;
  for (const CounterSeries& series : profile.counters.series) {
    names.emplace_back(profile.text(series.name));
    EXPECT_EQ(profile.text(series.part), "");
    EXPECT_EQ(profile.text(series.quantity), "bytes");
  }
  EXPECT_EQ(names, (std::vector<std::string>{"VTCM alloc", "DRAM read bytes in flight"}));
  EXPECT_EQ(profile.counters.time[0], run.first_start());
  EXPECT_EQ(profile.counters.value[0], 64);
}

// "pb" for "bp": a viewer binds such an arrow to the next slice, it means the one that begins
// there.
TEST_F(QnnTraps, ArrowsWithMisspeltBindingEndInTheirConsumer) {
  const GeneratedRun run = small_run();
  const Profile profile = of_trace(run);
  ASSERT_EQ(profile.flows.size(), 1u);
  EXPECT_EQ(profile.flows[0].from, SpanId{0});
  EXPECT_EQ(profile.flows[0].to, SpanId{2});
  EXPECT_EQ(profile.flows[0].kind, EdgeKind::data);
  EXPECT_EQ(noted(profile, "arrows from tensors that do not execute"), 1u);
}

TEST_F(QnnTraps, AnArrowBetweenOpsThatTouchLeavesTheEarlierForTheLater) {
  GeneratedRun run;
  run.lanes = {{256, "HMX"}};
  for (std::uint64_t i = 0; i < 3; ++i) {
    run.ops.push_back({(i + 1) << 32, "q::Op", "Node", "Type", "uses_hmx", "QUInt8", {1}, {}, {}});
    run.ops.back().slices.push_back({256, run.base + std::int64_t(i) * 10, 10, 1, 0, 0, 0, 0, 0});
  }
  run.ops[1].inputs = {run.ops[0].id};
  run.ops[2].inputs = {run.ops[1].id};
  const Profile profile = of_trace(run);
  ASSERT_EQ(profile.flows.size(), 2u);
  EXPECT_EQ(profile.flows[0].from, SpanId{0});
  EXPECT_EQ(profile.flows[0].to, SpanId{1});
  EXPECT_EQ(profile.flows[1].from, SpanId{1});
  EXPECT_EQ(profile.flows[1].to, SpanId{2});
}

TEST_F(QnnTraps, CyclesBeyondWhatADoubleHoldsAreExact) {
  GeneratedRun run = small_run();
  const std::int64_t shift = 9'007'199'254'740'993 - run.base;  // 2^53 + 1
  run.base += shift;
  for (test::RunOp& op : run.ops) {
    for (test::Slice& slice : op.slices) slice.start += shift;
  }
  for (auto& phase : run.inferences[0].phases) {
    phase.start_cycle += shift;
    phase.end_cycle += shift;
  }
  const Profile profile = read_one(
      {write("trace.json", op_trace_of(run)), write("qhas.json", qhas_of(run)),
       write("graph.json", test::htp_graph_of(run)), write("run.json", run_trace_of(run))});
  EXPECT_EQ(profile.spans.start[0], run.ops[0].slices[0].start);
  EXPECT_EQ(profile.phases[2].start, run.base);
  EXPECT_EQ(test::outcomes(profile, Check::Outcome::failed), "");
}

// "1e+06" and "7.0" for whole numbers, as %g writes them.
TEST_F(QnnTraps, WholeNumbersWrittenAsFloatsAreWhole) {
  std::string text = qhas_of(small_run());
  const std::string cycles = "\"cycles\": 50,";
  const std::size_t at = text.find(cycles);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, cycles.size(), "\"cycles\": 5e+01,");
  const Profile profile = read_one({write("qhas.json", text)});
  EXPECT_EQ(std::count(profile.spans.duration.begin(), profile.spans.duration.end(), 50), 1);
  EXPECT_EQ(noted(profile, "is not"), 0u);
}

// 0x111100000002 in QHAS is 0x0000111100000002 elsewhere.
TEST_F(QnnTraps, UnpaddedIdsAreTheSameIds) {
  const GeneratedRun run = small_run();
  const Profile summary = read_one({write("qhas.json", qhas_of(run))});
  const Profile trace = of_trace(run);
  ASSERT_EQ(summary.ops.size(), trace.ops.size());
  for (std::size_t i = 0; i < trace.ops.size(); ++i) {
    EXPECT_EQ(summary.ops[i].id, trace.ops[i].id);
    EXPECT_EQ(summary.ops[i].id, run.ops[i].id);
  }
}

// An op reads several pieces of one tensor: its id stands in the list several times.
TEST_F(QnnTraps, RepeatedInputsAreOneDependency) {
  GeneratedRun run = small_run();
  run.ops[1].inputs = {run.ops[0].id, run.ops[0].id, run.constants[0].id, run.ops[0].id};
  const Profile profile = of_trace(run);
  ASSERT_EQ(profile.edges.size(), 1u);
  EXPECT_EQ(profile.edges[0].from, OpId{0});
  EXPECT_EQ(profile.edges[0].to, OpId{1});
  EXPECT_EQ(profile.tensor_uses.size(), 2u);
}

// A wait has the name of the op that it waits for.
TEST_F(QnnTraps, AWaitIsToldFromTheTransferOfTheSameName) {
  GeneratedRun run = small_run();
  for (const char* flag : {"dma", "dma_wait"}) {
    const bool wait = std::string_view(flag) == "dma_wait";
    run.ops.push_back({std::uint64_t(wait ? 0x3001 : 0x3000) << 32,
                       "q::weights_to_vtcm",
                       "MatMul_0",
                       "FullyConnected",
                       flag,
                       "QInt8",
                       {},
                       {},
                       {}});
    run.ops.back().slices.push_back({256, run.base + (wait ? 320 : 300), 10, 2, 0, 0, 0, 0, 0});
  }
  const Profile profile = of_trace(run);
  EXPECT_EQ(profile.ops[2].kind, profile.ops[3].kind);
  EXPECT_EQ(profile.spans.kind[2 + 1], SpanKind::op);
  EXPECT_EQ(profile.spans.kind[3 + 1], SpanKind::dma_wait);
}

TEST_F(QnnTraps, NoCyclesPerPacketIsNoPackets) {
  std::string text = qhas_of(small_run());
  for (std::size_t at = 0; (at = text.find("\"cycles_per_packet\": ", at)) != text.npos;) {
    at += 21;
    text.replace(at, text.find(',', at) - at, "0");
  }
  const Profile profile = read_one({write("qhas.json", text)});
  const MeasureColumn* packets = column(profile, "packets");
  ASSERT_NE(packets, nullptr);
  for (const std::int64_t value : packets->values) EXPECT_EQ(value, MeasureColumn::missing);
}

// Wall time of the whole call includes power-on and waiting for VTCM: it gives no cycle rate.
TEST_F(QnnTraps, TheTimeOfTheCallIsNotTheTimeOfTheGraph) {
  const GeneratedRun run = small_run();
  const Profile profile = read_one({write("qhas.json", qhas_of(run))});
  EXPECT_EQ(values_of(profile, "QNN DSP Execute, rounded down"), std::vector<double>{100});
  EXPECT_EQ(values_of(profile, "Graph Execute, rounded down"), std::vector<double>{20});
  EXPECT_EQ(profile.clocks[index_of(profile.base_clock)].rate.value, 0);
}

// Inference 0 is cold, and only it is in the op trace.
// AI Hub hands out the trace and the summary, not the RUN_TRACE.
TEST_F(QnnTraps, WithoutARunTraceTheSummaryTellsTheRateWithItsRounding) {
  const GeneratedRun run = test::random_run(1);
  const File trace = write("trace.json", op_trace_of(run)), qhas = write("qhas.json", qhas_of(run));
  const Profile profile = read_one({trace, qhas});
  const Clock& clock = profile.clocks[index_of(profile.base_clock)];
  EXPECT_EQ(clock.rate.value, 0);  // cycles stay cycles
  const double microseconds = values_of(profile, "Graph Execute, rounded down").at(0);
  const double cycles = double(run.last_end() - run.first_start());
  EXPECT_DOUBLE_EQ(clock.derived_rate.value, cycles / microseconds * 1e6);
  EXPECT_DOUBLE_EQ(clock.derived_error, 1 / (microseconds + 1));
  EXPECT_EQ(read_one({trace}).clocks[0].derived_rate.value, 0);
}

TEST_F(QnnTraps, TheFirstExecuteIsColdAndTheOnlyOneWithOps) {
  const GeneratedRun run = test::random_run(3);
  const Profile profile =
      read_one({write("trace.json", op_trace_of(run)), write("run.json", run_trace_of(run))});
  EXPECT_EQ(profile.provenance.inferences, 3u);
  EXPECT_EQ(profile.provenance.temperature, Provenance::Temperature::cold_then_warm);
  EXPECT_EQ(noted(profile, "ops are of the first execute only"), 1u);
  const Profile alone = read_one({write("trace.json", op_trace_of(run))});
  EXPECT_EQ(alone.provenance.temperature, Provenance::Temperature::cold);
}

// Names of threads and processes are said anew for every inference.
TEST_F(QnnTraps, NamesThatAreRepeatedAreOneCore) {
  const Profile profile = read_one({write("run.json", run_trace_of(test::random_run(4)))});
  ASSERT_EQ(profile.units.size(), 2u);
  EXPECT_EQ(profile.text(profile.units[1].name), "core 0");
  EXPECT_EQ(profile.phases.size(), 12u);
  EXPECT_EQ(profile.phases[11].instance, 2u);
}

// "Core 1 Overview": never seen in public, but the names provide for it.
TEST_F(QnnTraps, ASecondCoreHasLanesOfItsOwn) {
  std::string text = op_trace_of(small_run());
  std::string other = text.substr(text.find("{ \"name\""));
  other.erase(other.find("{ \"cat\": \"input_output\""));
  for (const auto& [from, to] :
       {std::pair("\"pid\": 0,", "\"pid\": 100,"), std::pair("\"pid\": 2,", "\"pid\": 102,"),
        std::pair("Core:0", "Core:1")}) {
    for (std::size_t at = 0; (at = other.find(from, at)) != other.npos;) {
      other.replace(at, std::string_view(from).size(), to);
    }
  }
  other +=
      "{\"pid\": 100, \"ph\": \"M\", \"name\": \"process_name\", \"args\": {\"name\": \"Core 1 "
      "Overview\"}},\n";
  text.insert(text.find("{ \"name\""), other);
  const Profile profile = read_one({write("trace.json", text)});
  EXPECT_EQ(profile.spans.size(), 6u);
  std::vector<std::string> names;
  for (const Unit& unit : profile.units) {
    names.push_back(fmt::format("{} of {}", profile.text(unit.name), unit.core));
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"HMX 256 of 0", "HMX 256 of 1", "HTP of 0",
                                             "HVX 512 of 0", "HVX 512 of 1", "HVX 513 of 0",
                                             "HVX 513 of 1", "core 0 of 0", "core 1 of 1"}));
  const MeasureColumn* path = column(profile, "dominant path");
  ASSERT_NE(path, nullptr);
  EXPECT_EQ(path->values[0], path->values[3]);  // each core's own
}

}  // namespace
}  // namespace npuscope::qnn::traps_test
