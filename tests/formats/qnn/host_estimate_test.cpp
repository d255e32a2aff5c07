// What a host compiles and estimates, without a device: every number of the files against the run
// that they were made of.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "formats/qnn/host_run.hpp"
#include "formats/qnn/read/estimate.hpp"
#include "formats/qnn/scratch_files.hpp"

namespace npuscope::qnn {
namespace {

using namespace test;

class QnnHostEstimate : public ScratchFiles {
 protected:
  std::vector<Profile> read_all(const std::vector<File>& files) {
    auto sets = read_sets(files);
    if (!sets) {
      ADD_FAILURE() << sets.error().message;
      return {};
    }
    return std::move(sets->profiles);
  }
  std::vector<File> write_all(const std::vector<HostRun>& runs, int executes) {
    std::vector<File> files{write("prof_qnn.log", log_of(runs)),
                            write("qnn_op_trace.json", framework_trace_of(runs))};
    for (const HostRun& run : runs) {
      files.push_back(write(run.graph + "_schematic.bin", schematic_of(run)));
      files.push_back(write(run.graph + ".csv", csv_of(run, executes)));
    }
    return files;
  }
};

double measure_of(const Profile& profile, NumberRole role) {
  for (const Measure& measure : profile.measures) {
    if (measure.meaning.role == role) return measure.value;
  }
  return -1;
}

std::map<std::string, Check::Outcome> outcomes_of(const Profile& profile) {
  std::map<std::string, Check::Outcome> outcomes;
  for (const Check& check : profile.checks) outcomes[check.name] = check.outcome;
  return outcomes;
}

std::int64_t sum_of(const Profile& profile, NumberRole role) {
  std::int64_t sum = 0;
  const MeasureColumn* column = profile.spans.measure(role);
  for (const std::int64_t value : column->values) sum += value;
  return sum;
}

TEST_F(QnnHostEstimate, OfAFolderIsOneProfile) {
  const HostRun run = small_host_run();
  const auto profiles = read_all(write_all({run}, 2));
  ASSERT_EQ(profiles.size(), 1u);
  const Profile& profile = profiles[0];
  EXPECT_EQ(profile.provenance.format, "QNN HTP host estimate");
  EXPECT_EQ(profile.provenance.times, Origin::estimated);
  EXPECT_EQ(profile.provenance.graph, run.graph);
  EXPECT_EQ(profile.provenance.device, "HTP of SA8255");
  EXPECT_EQ(profile.provenance.inferences, 0u);
  EXPECT_EQ(profile.provenance.temperature, Provenance::Temperature::unknown);
  EXPECT_EQ(profile.clocks[index_of(profile.base_clock)].rate.value, 1497.6e6);
  EXPECT_EQ(measure_of(profile, NumberRole::estimated_wall), double(run.cycles()));
  EXPECT_EQ(measure_of(profile, NumberRole::wall_lower), double(run.cycles() + 6 - 100));
  EXPECT_EQ(measure_of(profile, NumberRole::wall_upper), double(run.cycles() + 6 + 250));
  EXPECT_EQ(measure_of(profile, NumberRole::vtcm_peak), 65536);
  EXPECT_EQ(measure_of(profile, NumberRole::vtcm_size), double(run.vtcm_bytes));
  EXPECT_EQ(measure_of(profile, NumberRole::hvx_threads), 4);
  EXPECT_NEAR(measure_of(profile, NumberRole::ddr_peak_rate), 46.03e9, 0.01e9);
  EXPECT_EQ(sum_of(profile, NumberRole::ddr_read), run.ddr_read());
  EXPECT_EQ(sum_of(profile, NumberRole::ddr_write), run.ddr_write());
  for (const Measure& measure : profile.measures) {
    EXPECT_EQ(measure.origin, Origin::estimated) << profile.text(measure.what);
  }
  for (const auto& [name, outcome] : outcomes_of(profile)) {
    EXPECT_EQ(outcome, Check::Outcome::passed) << name;
  }
  EXPECT_EQ(profile.checks.size(), 5u);
}

TEST_F(QnnHostEstimate, OpsAreKnownByTheirIdsAndTheirQnnNodes) {
  const Profile profile = read_one(write_all({small_host_run()}, 0));
  std::map<std::string, std::set<std::string>> kinds_of;
  for (const UnitId unit : profile.spans.unit) EXPECT_LT(index_of(unit), profile.units.size());
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    const Op& op = profile.ops[index_of(profile.spans.op[row])];
    kinds_of[std::string(profile.text(op.label()))].insert(std::string(profile.text(op.kind)));
  }
  EXPECT_EQ(kinds_of,
            (std::map<std::string, std::set<std::string>>{
                {"Input", {"q::*InputSlice"}},
                {"Output", {"q::*OutputSlice"}},
                {"Transpose_token_16", {"q::ForceFormat_Crouton"}},
                {"conv0_token_1", {"q::ConvLayer.opt.weights_to_vtcm", "q::ConvLayer_s1.opt"}}}));
  // Two tiles of one kernel are two ops.
  EXPECT_EQ(std::ranges::count_if(
                profile.ops,
                [&](const Op& op) { return profile.text(op.kind) == "q::ConvLayer_s1.opt"; }),
            2);
  const auto host = std::ranges::find(profile.ops, Engine::host, &Op::engine);
  ASSERT_NE(host, profile.ops.end());
  EXPECT_EQ(profile.text(host->name), "hardmax0");
  EXPECT_EQ(profile.text(host->node_kind), "Hardmax");
}

TEST_F(QnnHostEstimate, StartsAndSpawnsAreNeitherWorkNorBytes) {
  const Profile profile = read_one({write("prof_qnn.log", log_of({small_host_run()}))});
  std::map<SpanKind, int> kinds;
  for (const SpanKind kind : profile.spans.kind) ++kinds[kind];
  EXPECT_EQ(kinds, (std::map<SpanKind, int>{
                       {SpanKind::op, 6}, {SpanKind::transfer, 3}, {SpanKind::sync, 1}}));
  EXPECT_EQ(sum_of(profile, NumberRole::ddr_read), small_host_run().ddr_read());
}

// HTP v81 (SA8797): matrix work that FG hands to a lane of its own was work of no engine, and each
// hand-over a run of it.
TEST_F(QnnHostEstimate, MatrixWorkOfAThreadWasOfNoEngine) {
  HostRun run = small_host_run();
  std::int64_t cycles = 0;
  std::size_t tiles = 0;
  for (HostOp& op : run.ops) {
    if (op.work != HostWork::hmx) continue;
    op.work = HostWork::hmx_thread;
    op.tid = 6;
    cycles += op.cycles;
    ++tiles;
  }
  for (const bool alone : {true, false}) {
    const auto profiles =
        read_all(alone ? std::vector{write("prof_qnn.log", log_of({run}))} : write_all({run}, 0));
    ASSERT_EQ(profiles.size(), 1u);
    const Profile& profile = profiles[0];
    std::int64_t matrix_cycles = 0;
    std::size_t runs = 0;
    for (std::size_t row = 0; row < profile.spans.size(); ++row) {
      const Op& op = profile.ops[index_of(profile.spans.op[row])];
      if (profile.text(op.kind) != "q::ConvLayer_s1.opt") continue;
      EXPECT_EQ(op.engine, Engine::hmx);
      if (profile.spans.kind[row] != SpanKind::op) continue;
      ++runs;
      matrix_cycles += profile.spans.duration[row];
    }
    EXPECT_EQ(runs, tiles);
    EXPECT_EQ(matrix_cycles, cycles);
  }
}

// The csv's Input Fill is of DMA: where a vector kernel reads DDR itself, the identity failed.
TEST_F(QnnHostEstimate, WhatAVectorKernelReadsIsNoInputFill) {
  HostRun run = small_host_run();
  const auto kernel = std::ranges::find(run.ops, HostWork::hvx, &HostOp::work);
  kernel->ddr_read = kernel->ddr_write = 14336;
  const Profile profile = read_all(write_all({run}, 0)).at(0);
  for (const auto& [name, outcome] : outcomes_of(profile)) {
    EXPECT_EQ(outcome, Check::Outcome::passed) << name;
  }
  EXPECT_EQ(profile.checks.size(), 5u);
  EXPECT_EQ(sum_of(profile, NumberRole::ddr_read), run.ddr_read());
}

TEST_F(QnnHostEstimate, CheckpointsAreTheOrderOfOps) {
  const HostRun run = small_host_run();
  const Profile profile = read_one(write_all({run}, 0));
  std::set<std::pair<std::uint64_t, std::uint64_t>> order, expected;
  for (const Edge& edge : profile.edges) {
    if (edge.kind != EdgeKind::order) continue;
    order.insert({profile.ops[index_of(edge.from)].id, profile.ops[index_of(edge.to)].id});
  }
  for (const HostOp& from : run.ops) {
    for (const HostOp& to : run.ops) {
      if (from.counts_for > 0 && from.counts_for == to.waits_for) expected.insert({from.id, to.id});
    }
  }
  EXPECT_EQ(order, expected);
}

// One log held both, and the ids of both were the same.
TEST_F(QnnHostEstimate, OfSeveralGraphsAreApart) {
  HostRun first = small_host_run(), second = small_host_run();
  second.graph = "QNNExecutionProvider_QNNExecutionProvider_17_2_1";
  for (HostOp& op : second.ops) op.cycles += 7;
  auto files = write_all({first, second}, 1);
  files.front() = write("prof_qnn.log", log_of({first, first, second}));
  const auto profiles = read_all(files);
  ASSERT_EQ(profiles.size(), 2u);
  EXPECT_EQ(profiles[0].provenance.graph, first.graph);
  EXPECT_EQ(profiles[1].provenance.graph, second.graph);
  EXPECT_EQ(measure_of(profiles[0], NumberRole::wall_lower), double(first.cycles() + 6 - 100));
  EXPECT_EQ(measure_of(profiles[1], NumberRole::wall_lower), double(second.cycles() + 6 - 100));
}

TEST_F(QnnHostEstimate, OfACsvAloneIsNextToItsEmulationOrByItself) {
  const HostRun run = small_host_run();
  const Profile emulated = read_one({write("run.csv", csv_of(run, 2))});
  EXPECT_EQ(emulated.provenance.device, "HTP, emulated on the host");
  EXPECT_EQ(emulated.provenance.inferences, 2u);
  EXPECT_EQ(values_of(emulated, "estimate: Simulated (Accelerator exec cycles)"),
            std::vector<double>{double(run.cycles() + 6)});
  EXPECT_EQ(measure_of(emulated, NumberRole::estimated_wall), double(run.cycles() + 6));
  const Profile prepared = read_one({write("prepared.csv", csv_of(run, 0))});
  EXPECT_EQ(prepared.provenance.times, Origin::estimated);
  EXPECT_EQ(measure_of(prepared, NumberRole::estimated_wall), double(run.cycles() + 6));
  EXPECT_EQ(measure_of(prepared, NumberRole::ddr_read), double(run.ddr_read()));
}

// The csv has the first graph's preparation twice, and then the second's.
TEST_F(QnnHostEstimate, OfTheSecondGraphHadNoBounds) {
  HostRun first = small_host_run(), second = small_host_run();
  second.graph = "QNNExecutionProvider_QNNExecutionProvider_17_2_1";
  for (HostOp& op : second.ops) op.cycles += 7;
  const std::string head = csv_of(first, 0), again = csv_of(second, 0);
  const auto rows_of = [](const std::string& csv) { return csv.substr(csv.find('\n') + 1); };
  const std::string trace = "0,UNKNOWN,UNKNOWN,OBJECT,BACKEND,ROOT,QNN Trace Hextimate Event,\n";
  const auto profiles =
      read_all({write("prof_qnn.log", log_of({first, second})),
                write("prof.csv", head + trace + rows_of(head) + trace + rows_of(again) + trace)});
  ASSERT_EQ(profiles.size(), 2u);
  EXPECT_EQ(measure_of(profiles[0], NumberRole::wall_lower), double(first.cycles() + 6 - 100));
  EXPECT_EQ(measure_of(profiles[1], NumberRole::wall_lower), double(second.cycles() + 6 - 100));
}

TEST_F(QnnHostEstimate, OfAnotherCompilationIsNotJoined) {
  HostRun other = small_host_run();
  other.graph = "QNNExecutionProvider_QNNExecutionProvider_99_1_0";
  const auto profiles = read_all({write("prof_qnn.log", log_of({small_host_run()})),
                                  write("other_schematic.bin", schematic_of(other))});
  EXPECT_EQ(profiles.size(), 2u);
}

TEST_F(QnnHostEstimate, SchematicAloneHasTheGraphAndItsBytes) {
  const HostRun run = small_host_run();
  const Profile profile = read_one({write("a_schematic.bin", schematic_of(run))});
  EXPECT_EQ(profile.provenance.format, "QNN HTP schematic");
  EXPECT_EQ(profile.provenance.times, Origin::estimated);
  EXPECT_EQ(profile.spans.size(), 0u);
  EXPECT_EQ(profile.ops.size(), run.ops.size() + 1);  // and a checkpoint
  double read = 0;
  for (const Measure& measure : profile.measures) {
    if (measure.meaning.role == NumberRole::ddr_read) read += measure.value;
    EXPECT_EQ(measure.origin, Origin::estimated);
  }
  EXPECT_EQ(read, double(run.ddr_read()));
  EXPECT_EQ(values_of(profile, "highest VTCM byte in use"), std::vector<double>{0x8400});
  EXPECT_EQ(std::ranges::count_if(profile.edges,
                                  [](const Edge& edge) { return edge.kind == EdgeKind::data; }),
            7);
}

// What was prepared of one model vanished next to the run of another.
TEST_F(QnnHostEstimate, SumsOfOneFileStayNextToARunOfAnother) {
  HostRun other = small_host_run();
  other.nodes = {{0x41, "other", "Conv2d", {}}};
  const auto profiles = read_all({write("prepared.csv", csv_of(small_host_run(), 0)),
                                  write("emulated.csv", csv_of(other, 2)),
                                  write("prof_qnn.log", log_of({small_host_run()}))});
  std::size_t estimates = 0, runs = 0;
  for (const Profile& profile : profiles) {
    estimates += profile.provenance.times == Origin::estimated;
    runs += profile.provenance.inferences == 2;
  }
  EXPECT_EQ(estimates, 1u);
  EXPECT_EQ(runs, 1u);
}

// An object that ends before the list was looked at for ever.
TEST(QnnHostLog, SearchForTracesEndsWhateverStandsBeforeTheList) {
  std::string log("x\0{ \"a\": 1 } \"traceEvents\" ", 30);
  for (int i = 0; i < 1'000; ++i) log += "\"traceEvents\" {} ";
  EXPECT_LE(traces_in(log).size(), 1u);
  for (int i = 0; i < 1'000; ++i) log += "{{{ \"traceEvents\"";
  EXPECT_LE(traces_in(log).size(), 2u);
}

// The tiles of a convolution with a Relu after it carry the Relu's number: it was an activation.
TEST_F(QnnHostEstimate, FusedConvolutionIsNoActivation) {
  HostRun run = small_host_run();
  run.nodes.push_back({0x1a, "relu0", "Relu", {"relu0"}, {0x17}});
  for (HostOp& op : run.ops) {
    if (std::uint32_t(op.id) == 0x17) op.id += 3;
    for (std::uint64_t& input : op.inputs) input += std::uint32_t(input) == 0x17 ? 3 : 0;
  }
  const Profile profile = read_one({write("a_schematic.bin", schematic_of(run))});
  for (const Op& op : profile.ops) {
    if (profile.text(op.kind) != "q::ConvLayer_s1.opt") continue;
    EXPECT_EQ(profile.text(op.node), "relu0");
    EXPECT_EQ(profile.text(op.node_kind), "Conv2d, Relu");
  }
}

// Cut anywhere, files are read as far as they go, or refused in a sentence.
TEST_F(QnnHostEstimate, CutFilesEndInASentenceOrAPart) {
  const HostRun run = small_host_run();
  const std::string schematic = schematic_of(run), log = log_of({run});
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    const std::string& whole = round % 2 == 0 ? schematic : log;
    const File cut = write(round % 2 == 0 ? "cut_schematic.bin" : "cut_qnn.log",
                           whole.substr(0, random() % whole.size()));
    if (cut.kind == Kind::none) continue;
    const auto sets = read_sets(std::vector<File>{cut});
    if (!sets) {
      EXPECT_NE(sets.error().message.find("cut_"), std::string::npos);
      continue;
    }
    for (const Profile& profile : sets->profiles) {
      EXPECT_LE(profile.ops.size(), run.ops.size() + 1);
      EXPECT_LE(profile.spans.size(), 10u);
    }
  }
}

}  // namespace
}  // namespace npuscope::qnn
