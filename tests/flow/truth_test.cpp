// What the decoder says against what the simulator knows: every task on every thread, every tick.
// The decoder sees only the buffer's bytes.
#include <map>

#include "flow/flow.hpp"
#include "profile/shared_numbers.hpp"

namespace npuscope::truth_test {
namespace {

struct Place {
  std::uint32_t core, thread, position;
  auto operator<=>(const Place&) const = default;
};

// A counter at 19.2 MHz after `time`: 19.2e6 / 1e12 = 12 / 625000 ticks a picosecond.
std::int64_t ticks_after(Picoseconds time) {
  return time.value / 625'000 * 12 + time.value % 625'000 * 12 / 625'000;
}

struct Decoded {
  std::int64_t start = -1, duration = -1, cycles = -1;
};

std::map<Place, Decoded> spans_of(const Profile& profile, SpanKind kind) {
  std::map<Place, Decoded> spans;
  for (std::size_t i = 0; i < profile.spans.size(); ++i) {
    if (profile.spans.kind[i] != kind) continue;
    Unit unit = profile.units[index_of(profile.spans.unit[i])];
    if (kind == SpanKind::transfer) unit = profile.units[index_of(unit.parent)];
    const Op& op = profile.ops[index_of(profile.spans.op[i])];
    spans[{unit.core, unit.lane, op.position}] = {profile.spans.start[i], profile.spans.duration[i],
                                                  profile.spans.processor_cycles[i]};
  }
  return spans;
}

void expect_truth(const std::filesystem::path& model, std::uint32_t cores) {
  npu::nsp::SimulationOptions options;
  options.keep_truth = true;
  options.samples = 2;
  const ModelFlow flow = run_flow(model, request_for(cores, 70), options);
  ASSERT_EQ(flow.profiles.size(), 2u);
  for (std::size_t sample = 0; sample < 2; ++sample) {
    const Profile& profile = flow.profiles[sample];
    EXPECT_TRUE(profile.notes.empty());
    const auto ops = spans_of(profile, SpanKind::op);
    const auto syncs = spans_of(profile, SpanKind::sync);
    const auto transfers = spans_of(profile, SpanKind::transfer);
    const auto& truth = flow.simulated.inferences[sample].truth;
    EXPECT_EQ(ops.size(), truth.size());
    std::map<std::uint32_t, std::int64_t> offsets;  // of each core's timer
    std::size_t waited = 0, transferred = 0;
    for (const npu::nsp::TaskTruth& task : truth) {
      std::uint32_t queue = 0;
      while (flow.program.queue_begin[queue + 1] <= task.task) ++queue;
      const Place place{queue / qaic::thread_groups, task.thread,
                        task.task - flow.program.queue_begin[queue]};
      const auto op = ops.find(place);
      ASSERT_NE(op, ops.end());
      const auto offset =
          offsets.emplace(place.core, op->second.start - ticks_after(task.start)).first->second;
      ASSERT_EQ(op->second.start, offset + ticks_after(task.start));
      ASSERT_EQ(op->second.start + op->second.duration, offset + ticks_after(task.kernel_end));
      const bool moves = task.transfer_end > task.kernel_end;
      if (const auto transfer = transfers.find(place); transfer != transfers.end()) {
        ++transferred;
        ASSERT_EQ(transfer->second.start + transfer->second.duration,
                  offset + ticks_after(task.transfer_end));
      } else {
        ASSERT_TRUE(!moves || ticks_after(task.transfer_end) == ticks_after(task.start));
      }
      if (const auto sync = syncs.find(place); sync != syncs.end()) {
        ++waited;
        ASSERT_EQ(sync->second.start, offset + ticks_after(task.sync_begin));
        ASSERT_EQ(sync->second.start + sync->second.duration, op->second.start);
      }
    }
    EXPECT_GT(waited, 0u);
    EXPECT_GT(transferred, 0u);
    EXPECT_EQ(waited, syncs.size());
    EXPECT_EQ(transferred, transfers.size());
  }
}

TEST(DecoderAgainstTruth, ConvolutionsOnFourCores) {
  expect_truth(repository_model("light_resnet50.onnx"), 4);
}

TEST(DecoderAgainstTruth, SqueezeNetOnOneCoreAndOnAll) {
  expect_truth(repository_model("light_squeezenet.onnx"), 1);
  expect_truth(repository_model("light_squeezenet.onnx"), 16);
}

// Work that a profile reports must be the work that the program asked for.
TEST(DecoderAgainstTruth, DdrTrafficIsThatOfTheProgram) {
  npu::nsp::BuildRequest request = request_for(4, 70);
  request.options.ddr_stats = true;
  const ModelFlow flow = run_flow(repository_model("light_resnet50.onnx"), request);
  std::uint64_t read = 0, written = 0;
  for (const qaic::Task& task : flow.program.tasks) {
    read += task.ddr_read;
    written += task.ddr_write;
  }
  double measured_read = 0, measured_written = 0;
  for (const Measure& measure : flow.profiles.at(0).measures) {
    const auto what = flow.profiles[0].text(measure.what);
    if (what == ddr_read_bytes.name) measured_read += measure.value;
    if (what == ddr_write_bytes.name) measured_written += measure.value;
  }
  EXPECT_EQ(measured_read, double(read));
  EXPECT_EQ(measured_written, double(written));
}

TEST(DecoderAgainstTruth, EveryDependencyIsMet) {
  // Only ends of true dependencies before the consumer's start make sense, to the timer's tick.
  const ModelFlow flow = run_flow(repository_model("light_resnet50.onnx"), request_for(4, 70));
  const Profile& profile = flow.profiles.at(0);
  std::vector<std::int64_t> begin(profile.ops.size(), -1), end(profile.ops.size(), -1);
  for (std::size_t i = 0; i < profile.spans.size(); ++i) {
    const auto kind = profile.spans.kind[i];
    if (kind != SpanKind::op && kind != SpanKind::transfer) continue;
    const auto op = index_of(profile.spans.op[i]);
    const auto start = profile.spans.start[i];
    if (begin[op] < 0 || start < begin[op]) begin[op] = start;
    end[op] = std::max(end[op], start + profile.spans.duration[i]);
  }
  constexpr std::int64_t timer_skew = 8;  // ticks between the cores' timers
  std::size_t true_edges = 0;
  for (const Edge& edge : profile.edges) {
    if (profile.ops[index_of(edge.from)].kind == profile.ops[index_of(edge.to)].kind) continue;
    true_edges += edge.kind == EdgeKind::data ? 1 : 0;
    EXPECT_LE(end[index_of(edge.from)], begin[index_of(edge.to)] + timer_skew);
  }
  EXPECT_GT(true_edges, 1000u);
}

}  // namespace
}  // namespace npuscope::truth_test
