// Runs of which everything is known, written as the vendor's files and read back, in every subset.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "formats/qnn/generated_run.hpp"
#include "formats/qnn/scratch_files.hpp"

namespace npuscope::qnn::sets_test {
namespace {

using test::column;
using test::GeneratedRun;
using test::outcomes;
using test::RunOp;
using test::Slice;

class QnnSets : public test::ScratchFiles {
 protected:
  File trace(const GeneratedRun& run) { return write("trace.json", test::op_trace_of(run)); }
  File runs(const GeneratedRun& run) { return write("run.json", test::run_trace_of(run)); }
  File graph(const GeneratedRun& run) { return write("graph.json", test::htp_graph_of(run)); }
  File qhas(const GeneratedRun& run) { return write("qhas.json", test::qhas_of(run)); }
  File text(const GeneratedRun& run) { return write("profile.txt", test::viewer_text_of(run)); }
};

// What the hardware did, as comparable rows; `exact` where packets and bytes of slices are known.
using Row = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::uint64_t, std::string,
                       std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

std::vector<Row> truth_of(const GeneratedRun& run) {
  std::vector<Row> rows;
  for (const RunOp& op : run.ops) {
    for (const Slice& slice : op.slices) {
      rows.emplace_back(slice.tid, slice.start, slice.cycles, op.id, op.qnn_op, slice.dominant_path,
                        slice.packets, slice.dram_read, slice.vtcm_write);
    }
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<Row> found_in(const Profile& profile) {
  const auto value = [&](std::string_view what, std::size_t i) {
    const MeasureColumn* measure = column(profile, what);
    return measure == nullptr ? MeasureColumn::missing : measure->values[i];
  };
  std::vector<Row> rows;
  for (std::size_t i = 0; i < profile.spans.size(); ++i) {
    const Op& op = profile.ops[index_of(profile.spans.op[i])];
    const Unit& unit = profile.units[index_of(profile.spans.unit[i])];
    rows.emplace_back(std::int64_t(unit.lane), profile.spans.start[i], profile.spans.duration[i],
                      op.id, std::string(profile.text(op.node)), value("dominant path", i),
                      value("packets", i), value("ddr read bytes", i),
                      value("vtcm write bytes", i));
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

TEST_F(QnnSets, HoldExactlyWhatTheHardwareDid) {
  for (std::uint32_t seed = 1; seed <= 25; ++seed) {
    const GeneratedRun run = test::random_run(seed);
    const Profile profile = read_one({trace(run), runs(run), graph(run), qhas(run), text(run)});
    EXPECT_EQ(found_in(profile), truth_of(run)) << "seed " << seed;
    EXPECT_EQ(outcomes(profile, Check::Outcome::failed), "") << "seed " << seed;
    EXPECT_EQ(outcomes(profile, Check::Outcome::impossible), "") << "seed " << seed;
    for (const Note& note : profile.notes) EXPECT_EQ(note.severity, Severity::info) << note.message;
  }
}

TEST_F(QnnSets, ASummaryAloneHoldsTheSame) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    const GeneratedRun run = test::random_run(seed);
    const Profile profile = read_one({qhas(run)});
    EXPECT_EQ(found_in(profile), truth_of(run)) << "seed " << seed;
    EXPECT_EQ(outcomes(profile, Check::Outcome::failed), "") << "seed " << seed;
  }
}

TEST_F(QnnSets, AnOpTraceAloneHoldsTimesAndDominantPath) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    const GeneratedRun run = test::random_run(seed);
    const auto times = [](const std::vector<Row>& rows) {
      std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::uint64_t, std::int64_t>>
          out;
      for (const Row& row : rows) {
        out.emplace_back(std::get<0>(row), std::get<1>(row), std::get<2>(row), std::get<3>(row),
                         std::get<5>(row));
      }
      return out;
    };
    const Profile profile = read_one({trace(run)});
    EXPECT_EQ(times(found_in(profile)), times(truth_of(run))) << "seed " << seed;
    EXPECT_EQ(column(profile, "dominant path")->origin, Origin::derived);
  }
}

// Which tensor is made from which, by ids.
using Dependencies = std::set<std::pair<std::uint64_t, std::uint64_t>>;

Dependencies true_dependencies(const GeneratedRun& run, bool with_output_only) {
  Dependencies found;
  for (const RunOp& op : run.ops) {
    if (with_output_only && op.dims.empty()) continue;
    for (const std::uint64_t input : op.inputs) {
      const bool constant = std::any_of(run.constants.begin(), run.constants.end(),
                                        [&](const auto& each) { return each.id == input; });
      if (!constant) found.emplace(input, op.id);
    }
  }
  return found;
}

Dependencies data_edges(const Profile& profile) {
  Dependencies found;
  for (const Edge& edge : profile.edges) {
    if (edge.kind != EdgeKind::data) continue;
    found.emplace(profile.ops[index_of(edge.from)].id, profile.ops[index_of(edge.to)].id);
  }
  return found;
}

TEST_F(QnnSets, DependenciesAreTheSameFromEveryFile) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    const GeneratedRun run = test::random_run(seed);
    EXPECT_EQ(data_edges(read_one({trace(run)})), true_dependencies(run, false));
    EXPECT_EQ(data_edges(read_one({graph(run)})), true_dependencies(run, true));
    EXPECT_EQ(data_edges(read_one({trace(run), graph(run), qhas(run)})),
              true_dependencies(run, false));
    std::size_t uses = 0;
    for (const RunOp& op : run.ops) {
      uses += std::set<std::uint64_t>(op.inputs.begin(), op.inputs.end()).size();
    }
    EXPECT_EQ(read_one({trace(run), graph(run)}).tensor_uses.size(), uses);
  }
}

TEST_F(QnnSets, ConstantsAreTensorsWithShapeTypeAndSize) {
  const GeneratedRun run = test::random_run(5);
  for (const std::vector<File>& files :
       {std::vector{trace(run)}, std::vector{graph(run)}, std::vector{trace(run), graph(run)}}) {
    const Profile profile = read_one(files);
    for (const test::Constant& constant : run.constants) {
      const auto tensor = std::find_if(profile.tensors.begin(), profile.tensors.end(),
                                       [&](const Tensor& each) { return each.id == constant.id; });
      ASSERT_NE(tensor, profile.tensors.end());
      EXPECT_TRUE(tensor->is_constant);
      EXPECT_EQ(profile.text(tensor->shape), fmt::format("[{}]", fmt::join(constant.dims, ",")));
      EXPECT_EQ(tensor->size.value, 16 * constant.dims[3]);
      EXPECT_EQ(profile.text(tensor->name), "$Const_10");
    }
  }
}

// They are static like constants, of the extents that they describe.
TEST_F(QnnSets, ShapeRecordsAreNoConstantsAndHaveNoBytes) {
  GeneratedRun run = test::random_run(5);
  const std::size_t constants = run.constants.size();
  run.constants.push_back({0x100399fb24bb, {1, 1, 256, 256}, true});
  for (const std::vector<File>& files :
       {std::vector{trace(run)}, std::vector{graph(run)}, std::vector{trace(run), graph(run)}}) {
    const Profile profile = read_one(files);
    std::size_t found = 0, shapes = 0;
    for (const Tensor& tensor : profile.tensors) {
      found += tensor.is_constant;
      shapes += tensor.is_shape;
      EXPECT_EQ(tensor.is_shape, tensor.id == 0x100399fb24bb);
      if (tensor.is_shape) {
        EXPECT_EQ(tensor.size.value, 0);
        EXPECT_EQ(profile.text(tensor.name), "$Shape_99fb24bb");
      }
    }
    EXPECT_EQ(found, constants);
    EXPECT_EQ(shapes, 1u);
  }
}

TEST_F(QnnSets, AGraphAloneIsOpsWithNumbersAndNoTimeline) {
  const GeneratedRun run = test::small_run();
  const Profile profile = read_one({graph(run)});
  EXPECT_EQ(profile.spans.size(), 0u);
  ASSERT_EQ(profile.ops.size(), 2u);
  EXPECT_EQ(profile.text(profile.ops[1].name), "MatMul_0");
  EXPECT_EQ(profile.text(profile.ops[1].kind), "q::ConvLayer_s1.opt");
  EXPECT_EQ(profile.text(profile.ops[1].types), "UFIXED_POINT_8");
  EXPECT_EQ(profile.text(profile.ops[1].memory), "VTCM");
  EXPECT_EQ(profile.ops[1].output.value, 64);
  EXPECT_EQ(profile.ops[1].engine, Engine::hmx);
  EXPECT_EQ(test::values_of(profile, "cycles"), (std::vector<double>{40, 30}));
  EXPECT_EQ(test::values_of(profile, "ddr read bytes"), (std::vector<double>{0, 64}));
}

// As the compiler leaves it on a machine without a device.
TEST_F(QnnSets, AGraphThatNeverRanHasNoCyclesAndJoinsByIds) {
  const GeneratedRun run = test::small_run();
  std::string text = test::htp_graph_of(run);
  for (const char* key : {"cycles_start", "cycles_duration", "cycles_dominant"}) {
    for (std::size_t at = 0; (at = text.find(key, at)) != text.npos;) text.replace(at, 6, "xycles");
  }
  const File mapping = write("net_bottom_mapping.json", text);
  EXPECT_TRUE(test::values_of(read_one({mapping}), "cycles").empty());
  const Profile joined = read_one({mapping, trace(run)});
  EXPECT_EQ(test::values_of(joined, "ddr read bytes"), (std::vector<double>{0, 64}));
  EXPECT_NE(outcomes(joined, Check::Outcome::impossible).find("it was never run"),
            std::string::npos);
}

TEST_F(QnnSets, TrafficThatNoNodeOfTheGraphHasIsUnknownWhereExecutedOpsHaveNoNode) {
  GeneratedRun run = test::small_run();
  const File executed = trace(run);
  EXPECT_EQ(test::values_of(read_one({executed, graph(run)}), "ddr write bytes").size(), 2u);
  run.ops.erase(run.ops.begin());
  const Profile profile = read_one({executed, graph(run)});
  EXPECT_TRUE(test::values_of(profile, "ddr write bytes").empty());
  EXPECT_EQ(test::values_of(profile, "ddr read bytes"), std::vector<double>{64});
  EXPECT_EQ(test::noted(profile, "lower bounds"), 1u);
}

TEST_F(QnnSets, ASummaryWithoutInstancesIsNodesAndTotals) {
  const GeneratedRun run = test::small_run();
  std::string text = test::qhas_of(run);
  const std::size_t begin = text.find("\"htp_op_instances\": {\"data\": [") + 31;
  text.erase(begin, text.rfind(']') - begin);
  const Profile profile = read_one({write("qhas.json", text)});
  EXPECT_EQ(profile.spans.size(), 0u);
  ASSERT_EQ(profile.ops.size(), 1u);
  EXPECT_EQ(profile.text(profile.ops[0].name), "MatMul_0");
  EXPECT_EQ(test::values_of(profile, "cycles"), std::vector<double>{120});
  EXPECT_EQ(test::values_of(profile, "graph wall"), std::vector<double>{90});
  EXPECT_EQ(test::values_of(profile, "cycles of all lanes"), std::vector<double>{120});
  EXPECT_EQ(test::values_of(profile, "busiest lane"), std::vector<double>{50});
  EXPECT_EQ(test::values_of(profile, "busy, waits included"), (std::vector<double>{30, 40, 50}));
  EXPECT_EQ(test::values_of(profile, "HTP op type q::ForceFormat_Crouton: cycles"),
            std::vector<double>{90});
  const std::map<std::string_view, MeasureKind> kinds{
      {"graph wall", MeasureKind::wall},
      {"cycles of all lanes", MeasureKind::work},
      {"busiest lane", MeasureKind::domain},
      {"busy, waits included", MeasureKind::unit_busy},
      {"cycles with any lane busy", MeasureKind::active},
      {"dominant path", MeasureKind::dominant_path}};
  for (const Measure& measure : profile.measures) {
    const auto kind = kinds.find(profile.text(measure.what));
    EXPECT_TRUE(kind == kinds.end() || kind->second == measure.kind) << profile.text(measure.what);
  }
  // It says itself how many rows its tables had.
  EXPECT_NE(outcomes(profile, Check::Outcome::failed).find("instances 0 of 3"), std::string::npos);
}

TEST_F(QnnSets, ARunTraceIsPhasesOfEveryInference) {
  const GeneratedRun run = test::random_run(2);
  const Profile profile = read_one({runs(run)});
  std::vector<std::string> found, truth;
  for (const Phase& phase : profile.phases) {
    found.push_back(fmt::format("{} {} {} {} {:.4f}", phase.instance, profile.text(phase.name),
                                phase.start, phase.duration, phase.microseconds));
  }
  for (std::size_t i = 0; i < run.inferences.size(); ++i) {
    for (const auto& phase : run.inferences[i].phases) {
      truth.push_back(fmt::format("{} {} {} {} {:.4f}", i, phase.name, phase.start_cycle,
                                  phase.end_cycle - phase.start_cycle,
                                  double(phase.end_ticks - phase.start_ticks) / 19.2));
    }
  }
  EXPECT_EQ(found, truth);
  EXPECT_EQ(profile.provenance.graph, run.graph);
  EXPECT_EQ(profile.provenance.version, "RUN_TRACE 1.1.0");
}

TEST_F(QnnSets, ArgumentsAreKeptWhereTheyContradictTheSpan) {
  std::size_t contradictions = 0;
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    const GeneratedRun run = test::random_run(seed);
    const Profile profile = read_one({trace(run)});
    const auto duration = profile.strings.find("Duration (cycles)");
    ASSERT_TRUE(duration);
    for (std::size_t i = 0; i < profile.spans.size(); ++i) {
      const Op& op = profile.ops[index_of(profile.spans.op[i])];
      const auto truth = std::find_if(run.ops.begin(), run.ops.end(),
                                      [&](const RunOp& each) { return each.id == op.id; });
      const auto kept = profile.spans.arguments.find(i, *duration);
      contradictions += kept.has_value();
      EXPECT_EQ(kept ? kept->integer() : profile.spans.duration[i], truth->slices[0].cycles);
      EXPECT_NE(kept && kept->integer() == profile.spans.duration[i], true);
    }
  }
  EXPECT_GT(contradictions, 0u);
}

TEST_F(QnnSets, ArgumentsThatRepeatAColumnAreKeptOnceAsTheColumn) {
  const GeneratedRun run = test::random_run(3);
  const std::string text = test::op_trace_of(run);
  const auto rows_with = [](const Profile& profile, std::string_view key) {
    std::size_t rows = 0;
    const auto name = profile.strings.find(key);
    for (std::size_t i = 0; name && i < profile.spans.size(); ++i) {
      rows += profile.spans.arguments.find(i, *name).has_value();
    }
    return rows;
  };
  const Profile whole = read_one({write("op_trace.json", text)});
  for (const char* key : {"ID", "HTP Op Type", "QNN Op Name", "QNN Op Type", "Data Type", "Dims",
                          "Flags", "Inputs Ops"}) {
    EXPECT_EQ(rows_with(whole, key), 0u) << key;
  }
  EXPECT_EQ(rows_with(whole, "Rank"), whole.spans.size());

  // One event of a sliced op that contradicts the others.
  const auto sliced = std::find_if(run.ops.begin(), run.ops.end(),
                                   [](const RunOp& op) { return op.slices.size() > 1; });
  ASSERT_NE(sliced, run.ops.end());
  const std::string first =
      fmt::format(R"("ID": "0x{:016x}","HTP Op Type": "{}")", sliced->id, sliced->htp_op);
  std::istringstream lines(text);
  std::string odd;
  int seen = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find(first);
    const bool in_overview = line.find(R"("pid": 0)") != line.npos;
    if (at != line.npos && in_overview && ++seen == 2) {
      line.replace(at, first.size(),
                   fmt::format(R"("ID": "0x{:016x}","HTP Op Type": "other")", sliced->id));
    }
    odd += line + '\n';
  }
  ASSERT_GT(seen, 1);
  EXPECT_EQ(rows_with(read_one({write("odd.json", odd)}), "HTP Op Type"), 1u);
}

TEST_F(QnnSets, TheOrderOfTheFilesChangesNothingButTheirList) {
  const GeneratedRun run = test::random_run(6);
  std::vector<File> files{graph(run), qhas(run), runs(run), text(run), trace(run)};
  const Profile first = read_one(files);
  std::reverse(files.begin(), files.end());
  const Profile second = read_one(files);
  EXPECT_EQ(found_in(first), found_in(second));
  EXPECT_EQ(first.measures.size(), second.measures.size());
  EXPECT_EQ(first.provenance.files.front(), second.provenance.files.back());
}

// A damaged sum is told, not hidden.
TEST_F(QnnSets, AnIdentityThatDoesNotHoldIsAFailedCheck) {
  const GeneratedRun run = test::small_run();
  std::string summary = test::qhas_of(run);
  const auto break_number = [&](std::string_view key, std::string_view value) {
    std::string broken = test::qhas_of(run);
    const std::size_t at = broken.find(key) + key.size();
    broken.replace(at, broken.find_first_of(",}", at) - at, value);
    std::vector<std::string> names;
    for (const Check& check :
         read_one({write("qhas.json", broken), runs(run), text(run), trace(run), graph(run)})
             .checks) {
      if (check.outcome == Check::Outcome::failed) names.push_back(check.name);
    }
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(break_number("\"cycles_used\": ", "31"),
            (Names{"cycles of instances = of QNN op types = of lanes",
                   "shares of cycles and of dominant path",
                   "utilisation of a lane = its cycles / graph wall"}));
  EXPECT_EQ(break_number("\"percent_idle\": ", "50.0").front(),
            "dominant path + idle = graph wall");
  EXPECT_EQ(break_number("\"percent_active_cycles\": ", "1.5"),
            Names{"shares of cycles and of dominant path"});
  EXPECT_EQ(break_number("\"utilization\": ", "1.5"),
            Names{"utilisation of a lane = its cycles / graph wall"});
  EXPECT_EQ(
      break_number("\"timeline_cycles\": 90, \"total_dram_read\": 64, \"total_dram_write\": ", "7"),
      Names{"bytes of instances = of lanes = in all"});
  EXPECT_EQ(break_number("\"graph_execute_us\": ", "21"),
            Names{"microseconds of QHAS = phases of the first execute"});
  EXPECT_EQ(break_number("\"htp_nodes\": ", "4"), Names{"counts of QHAS = rows of its tables"});
  EXPECT_EQ(break_number("\"peak_vtcm_alloc\": ", "4"),
            Names{"peak VTCM of QHAS = highest sample of VTCM alloc"});
  EXPECT_EQ(break_number("\"num_dominant_path_cycles\": ", "1").back(),
            "dominant path by the ownership rule = of QHAS");
}

}  // namespace
}  // namespace npuscope::qnn::sets_test
