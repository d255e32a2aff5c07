// Devices of one program run together: data arrives when the link between them has moved it, and
// whoever needs it waits until then.
#include <gtest/gtest.h>

#include "npu/targets/nsp/simulate/random_program.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"

namespace npuscope::npu::nsp::devices_test {
namespace {

using qaic::ThreadGroup;

constexpr std::uint32_t hvx = ProgramBuilder::queue(0, ThreadGroup::hvx);
constexpr std::uint32_t dma = ProgramBuilder::queue(0, ThreadGroup::dma_issue);

Target linked_target() {
  Target target = round_target();
  target.peer_bytes_per_s = 1e9;  // 1 byte/ns
  target.peer_latency_s = 2e-6;
  return target;
}

qaic::Program slice(ProgramBuilder builder, std::uint32_t number,
                    std::vector<qaic::PeerTransfer> transfers) {
  qaic::Program program = builder.finish();
  program.network_name = fmt::format("QAicGraph_slice{:02}", number);
  program.slice = number;
  program.slices = 2;
  program.peer_transfers = std::move(transfers);
  return program;
}

SimulationOptions sampled() {
  SimulationOptions options;
  options.inferences = 2;
  options.keep_truth = true;
  options.core_hz = 1e9;
  return options;
}

Result<SimulationResult> simulate_pair(const qaic::Program& first, const qaic::Program& second) {
  const qaic::Program* programs[] = {&first, &second};
  const std::uint32_t devices[] = {3, 5};
  return simulate(programs, devices, linked_target(), sampled());
}

// Device 0 issues a transfer of 5000 bytes for 100 ns; device 1 waits for it.
struct Pair {
  qaic::Program sender, receiver;
};
Pair one_transfer(std::uint32_t cores) {
  ProgramBuilder from(cores, 70), to(cores, 70);
  std::vector<qaic::PeerTransfer> out, in;
  for (std::uint32_t core = 0; core < cores; ++core) {
    from.add(ProgramBuilder::queue(core, ThreadGroup::dma_issue), 100);
    to.add(ProgramBuilder::queue(core, ThreadGroup::hvx), 50);
    out.push_back({core, 1, 5000, core, 0});
    in.push_back({core, 0, 5000, core, 1});
  }
  return {slice(from, 0, out), slice(to, 1, in)};
}

TEST(SimulatedDevices, TheReceiverWaitsForTheLink) {
  const Pair pair = one_transfer(1);
  const auto result = simulate_pair(pair.sender, pair.receiver);
  ASSERT_TRUE(result) << result.error().message;
  const SimulatedInference& inference = result->inferences[0];
  const std::int64_t begin = inference.device_begin.value;
  const auto& sent = inference.truth.at(0);
  EXPECT_EQ(sent.kernel_end.value - begin, 100'000);
  EXPECT_EQ(sent.transfer_end.value - begin, 100'000 + 5'000'000 + 2'000'000);
  ASSERT_EQ(inference.more_truth.size(), 1u);
  const auto& received = inference.more_truth[0].at(0);
  EXPECT_EQ(received.sync_begin.value, begin);
  EXPECT_EQ(received.start.value, sent.transfer_end.value);
  EXPECT_EQ(received.kernel_end.value - received.start.value, 50'000);
  ASSERT_EQ(inference.more_stats_buffers.size(), 1u);
  EXPECT_NE(inference.more_stats_buffers[0], inference.stats_buffer);
}

TEST(SimulatedDevices, CoresShareTheLinkOfTheirDevice) {
  const Pair pair = one_transfer(2);
  const auto result = simulate_pair(pair.sender, pair.receiver);
  ASSERT_TRUE(result) << result.error().message;
  const SimulatedInference& inference = result->inferences[0];
  for (const std::size_t transfer : {0, 1}) {
    EXPECT_EQ(inference.truth[transfer].transfer_end.value - inference.device_begin.value,
              100'000 + 10'000'000 + 2'000'000);
  }
}

// Both ways at once: each direction has a link of its own.
TEST(SimulatedDevices, ExchangeAtOnce) {
  ProgramBuilder builder(1, 70);
  builder.add(dma, 100);
  builder.add(hvx, 50, {{dma, 1}});
  const auto result = simulate_pair(slice(builder, 0, {{0, 1, 5000, 9, 1}, {1, 1, 5000, 9, 0}}),
                                    slice(builder, 1, {{0, 0, 5000, 9, 1}, {1, 0, 5000, 9, 0}}));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->inferences.size(), 2u);
  const SimulatedInference& inference = result->inferences[0];
  EXPECT_EQ(inference.truth[0].start.value - inference.device_begin.value, 7'100'000);
  EXPECT_EQ(inference.more_truth[0][0].start.value - inference.device_begin.value, 7'100'000);
}

TEST(SimulatedDevices, OfLikeOptionsWriteLikeBytes) {
  const Pair pair = one_transfer(2);
  const auto first = simulate_pair(pair.sender, pair.receiver);
  const auto second = simulate_pair(pair.sender, pair.receiver);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->inferences[0].stats_buffer, second->inferences[0].stats_buffer);
  EXPECT_EQ(first->inferences[0].more_stats_buffers, second->inferences[0].more_stats_buffers);
}

TEST(SimulatedDevices, RefuseWhatCannotRun) {
  const Pair pair = one_transfer(1);
  const auto alone = simulate(pair.sender, linked_target(), sampled());
  ASSERT_FALSE(alone);
  EXPECT_NE(alone.error().message.find("all parts run together"), std::string::npos);
  const qaic::Program* programs[] = {&pair.sender, &pair.receiver};
  const std::uint32_t devices[] = {0, 1};
  const auto unlinked = simulate(programs, devices, round_target(), sampled());
  ASSERT_FALSE(unlinked);
  EXPECT_EQ(unlinked.error().kind, ErrorKind::usage);
  qaic::Program broken = pair.receiver;
  for (auto& transfer : broken.peer_transfers) transfer.peer = 1;
  EXPECT_FALSE(simulate_pair(pair.sender, broken));
  broken = pair.receiver;
  broken.peer_transfers[0].task = 77;
  EXPECT_FALSE(simulate_pair(pair.sender, broken));
  broken = pair.sender;
  broken.tasks[0].ddr_read = 1;
  EXPECT_FALSE(simulate_pair(broken, pair.receiver));
}

}  // namespace
}  // namespace npuscope::npu::nsp::devices_test
