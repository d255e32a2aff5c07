// What was spilled and filled against the program's own transfers, over programs of many shapes, as
// both emitters write them; and of a model that does not fit against its compiler.
#include "npuscope/analysis/spill.hpp"
#include "npuscope/analysis/analysis.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "flow/flow.hpp"
#include "flow/generated_run.hpp"
#include "npu/targets/nsp/simulate/random_program.hpp"
#include "npuscope/analysis/timeline.hpp"

namespace npuscope::spill_test {
namespace {

using analysis::OpTraffic;
using analysis::Route;
using analysis::Spill;

constexpr std::uint32_t copy_in = 1, copy_out = 2;  // kernels of generated programs

struct Known {
  std::int64_t written = 0, read = 0;  // bytes
  std::uint32_t spills = 0, fills = 0;
  std::map<std::uint32_t, std::vector<std::uint32_t>> fills_of;  // of a spill that is read back
};

std::int64_t written_by(const qaic::Task& task) { return std::int64_t(task.ddr_write); }

// Statistics buffers tell a copy out of VTCM from a spill only by the data that comes back. A copy
// in of what several copies brought out is that of the first.
Known known_of(const qaic::Program& program, bool only_read_back) {
  Known known;
  for (std::uint32_t i = 0; i < program.tasks.size(); ++i) {
    const qaic::Task& task = program.tasks[i];
    if (task.kernel != copy_in) continue;
    std::optional<std::uint32_t> from;
    for (std::uint32_t d = 0; d < task.dependency_count; ++d) {
      const std::uint32_t other = program.dependencies[task.dependency_begin + d].task;
      if (program.tasks[other].kernel != copy_out) continue;
      known.fills_of[other];  // a spill, though another is where the data comes from
      if (!from) from = other;
    }
    if (from) known.fills_of[*from].push_back(i);
    if (!from && only_read_back) continue;
    known.read += std::int64_t(task.ddr_read);
    known.fills += 1;
  }
  for (std::uint32_t i = 0; i < program.tasks.size(); ++i) {
    if (program.tasks[i].kernel != copy_out) continue;
    if (only_read_back && !known.fills_of.contains(i)) continue;
    known.written += written_by(program.tasks[i]);
    known.spills += 1;
  }
  std::erase_if(known.fills_of, [](const auto& pair) { return pair.second.empty(); });
  return known;
}

// Begin and end of each task's movement of data, by the emitter's own clock.
using Times = std::map<std::uint32_t, Interval>;

void expect_known(const GeneratedRun& run, const Known& known, const Times& times) {
  const Profile& profile = run.profiles.at(0);
  const Spill spill = analysis::Analysis(profile).spill();
  EXPECT_EQ(at(spill.spill.bytes, Route::ddr_write).value_or(0), known.written);
  EXPECT_EQ(at(spill.fill.bytes, Route::ddr_read).value_or(0), known.read);
  EXPECT_EQ(spill.spill.ops, known.spills);
  EXPECT_EQ(spill.fill.ops, known.fills);
  ASSERT_EQ(spill.tensors.size(), known.fills_of.size());
  for (const analysis::SpilledTensor& tensor : spill.tensors) {
    const std::uint32_t by = run.task_of[index_of(tensor.op)];
    const auto& fills = known.fills_of.at(by);
    EXPECT_EQ(tensor.fills, fills.size());
    EXPECT_EQ(tensor.written, written_by(run.program.tasks[by]));
    std::int64_t read = 0, first = times.at(fills.front()).begin;
    for (const std::uint32_t fill : fills) {
      read += std::int64_t(run.program.tasks[fill].ddr_read);
      first = std::min(first, times.at(fill).begin);
    }
    EXPECT_EQ(tensor.read, read);
    EXPECT_EQ(tensor.away, first - times.at(by).end);
  }
}

TEST(SpillAgainstTheSimulator, IsWhatComesBackInStatisticsBuffers) {
  std::uint32_t spills = 0, tensors = 0;
  for (const Shape shape : all_shapes) {
    for (std::uint32_t cores = 1; cores <= 4; ++cores) {
      SCOPED_TRACE(fmt::format("shape {}, {} cores", int(shape), cores));
      const GeneratedRun run = device_run({.seed = cores + 7 * std::uint64_t(shape),
                                           .cores = cores,
                                           .tasks = 90 * cores,
                                           .shape = shape},
                                          npu::nsp::realistic_target());
      const Known known = known_of(run.program, true);
      // Timers of cores differ by a constant, which no time within a core shows.
      Times times;
      for (std::size_t row = 0; row < run.profiles[0].spans.size(); ++row) {
        const Spans& spans = run.profiles[0].spans;
        const std::size_t op = index_of(spans.op[row]);
        if (spans.kind[row] == SpanKind::transfer) {
          times[run.task_of[op]] = interval_of(spans, row);
        }
      }
      for (const npu::nsp::TaskTruth& task : run.simulated.inferences[0].truth) {
        if (!times.contains(task.task)) continue;
        EXPECT_EQ(length_of(times[task.task]),
                  run.ticks(task.transfer_end) - run.ticks(task.start));
      }
      expect_known(run, known, times);
      spills += known.spills;
      tensors += std::uint32_t(known.fills_of.size());
    }
  }
  EXPECT_GT(spills, 50u);
  EXPECT_GT(tensors, 30u);
}

TEST(SpillAgainstTheSimulator, IsWhatTheSpillOpsMoveInOptraces) {
  std::uint32_t tensors = 0;
  for (const Shape shape : all_shapes) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE(fmt::format("shape {}, seed {}", int(shape), seed));
      const GeneratedRun run = optrace_run({.seed = seed, .tasks = 90, .shape = shape},
                                           *npu::nsp::builtin_target("htp-v75"));
      const Known known = known_of(run.program, false);
      Times times;
      std::int64_t work = 0;
      for (const npu::nsp::OpTraceRecord& record : run.simulated.inferences[0].op_trace) {
        const std::uint32_t kernel = run.program.tasks[record.task].kernel;
        if (kernel != copy_in && kernel != copy_out) continue;
        const Interval time{std::int64_t(record.start_cycle), std::int64_t(record.leave_cycle)};
        times[record.task] = time;
        work += length_of(time);
      }
      expect_known(run, known, times);
      const Profile& profile = run.profiles[0];
      const Spill spill = analysis::Analysis(profile).spill();
      EXPECT_EQ(spill.spill.work + spill.fill.work, work);
      tensors += std::uint32_t(known.fills_of.size());
    }
  }
  EXPECT_GT(tensors, 30u);
}

// A BERT whose activations do not fit: what its spills write is what the compiler had to evict and
// what it streams tile by tile, all that is written but the result and the statistics.
TEST(SpillAgainstTheCompiler, OfABertThatDoesNotFit) {
  const auto model = npu::generate_onnx(*npu::make_architecture("bert-base", {}), {8, 128, 0}, {});
  must(model);
  const auto path =
      std::filesystem::path(testing::TempDir()) / fmt::format("npuscope-bert-{}.onnx", ::getpid());
  ASSERT_TRUE(write_file_atomically(path, as_byte_span(model->bytes)));
  const CompiledForHtp compiled = compiled_for_htp(path);
  std::filesystem::remove(path);
  const GeneratedRun run =
      optrace_run(compiled.program, compiled.schematic, *npu::nsp::builtin_target("htp-v75"));
  std::int64_t written = 0, read = 0, others = 0;
  std::uint32_t spills = 0, fills = 0;
  for (std::size_t i = 0; i < compiled.program.tasks.size(); ++i) {
    const qaic::Task& task = compiled.program.tasks[i];
    const std::string& type = compiled.schematic.texts[compiled.schematic.ops[i].type];
    spills += type == "@Spill";
    fills += type == "@Fill";
    (type == "@Spill" ? written : others) += std::int64_t(task.ddr_write);
    if (type == "@Fill") read += std::int64_t(task.ddr_read);
  }
  const Profile& profile = run.profiles.at(0);
  const Spill spill = analysis::Analysis(profile).spill();
  EXPECT_EQ(at(spill.spill.bytes, Route::ddr_write), written);
  EXPECT_EQ(at(spill.fill.bytes, Route::ddr_read), read);
  EXPECT_EQ(spill.spill.ops, spills);
  EXPECT_EQ(spill.fill.ops, fills);
  EXPECT_EQ(spill.unpaired_fills + spill.unpaired_spills, 0u);
  EXPECT_GT(compiled.spill_bytes, 10'000'000u);
  EXPECT_GE(std::uint64_t(written), compiled.spill_bytes);
  EXPECT_LT(others, written / 20);  // 3 MiB of result in 32 bit, the statistics
  std::int64_t of_tensors = 0;
  for (const analysis::SpilledTensor& tensor : spill.tensors) of_tensors += tensor.written;
  EXPECT_EQ(of_tensors, written);
}

}  // namespace
}  // namespace npuscope::spill_test
