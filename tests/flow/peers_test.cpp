// What devices send one another, from the compiler to the analysis: the pairs that a profile shows
// are those of the programs, to the byte and on both sides.
#include "analysis/units/peers.hpp"

#include <map>

#include "flow/flow.hpp"
#include "npu/targets/nsp/compile/compile.hpp"
#include "npuscope/npu/models/architecture.hpp"

namespace npuscope::peers_test {
namespace {

using Pair = std::pair<std::string, std::string>;
struct Sum {
  std::uint64_t transfers = 0;
  std::int64_t bytes = 0;
  bool operator==(const Sum&) const = default;
};

struct DeviceRun {
  std::vector<qaic::Program> programs;
  std::vector<Profile> profiles;  // by device
};

DeviceRun run_on(std::uint32_t devices) {
  DeviceRun run;
  npu::ArchitectureChanges changes;
  changes.layers = 2;
  const auto architecture = npu::make_architecture("qwen3-0.6b", changes);
  must(architecture);
  const auto model = npu::generate_onnx(*architecture, {1, 16, 64}, {});
  must(model);
  const auto path =
      std::filesystem::path(testing::TempDir()) / fmt::format("npuscope-peers-{}.onnx", devices);
  must(write_file_atomically(path, as_byte_span(model->bytes)));
  npu::nsp::BuildRequest request = request_for(2, 70);
  request.partition.devices.clear();
  for (std::uint32_t i = 0; i < devices; ++i) request.partition.devices.push_back(i);
  const auto built = npu::nsp::build(path, request);
  std::filesystem::remove(path);
  must(built);
  std::vector<const qaic::Program*> programs;
  for (const auto& network : *built->networks) {
    run.programs.push_back(network.program);
    programs.push_back(&network.program);
  }
  npu::nsp::SimulationOptions options;
  options.inferences = 2;
  options.first_sample = 1;
  const auto result = npu::nsp::simulate(programs, request.partition.devices,
                                         *npu::nsp::builtin_target("aic100"), options);
  must(result);
  const npu::nsp::SimulatedInference& inference = result->inferences.at(1);
  for (std::uint32_t i = 0; i < devices; ++i) {
    qaic::StatsNetworkOptions labelled;
    labelled.label = fmt::format("QAicGraph_slice{:02}", i);
    const auto network =
        qaic::StatsNetwork::create((*built->networks)[i].descriptor, &run.programs[i], labelled);
    must(network);
    auto profile = qaic::decode_stats_buffer(
        i == 0 ? inference.stats_buffer : inference.more_stats_buffers[i - 1], "b.bin", *network);
    must(profile);
    run.profiles.push_back(std::move(*profile));
  }
  return run;
}

TEST(PeersOfARun, AreTheTransfersOfThePrograms) {
  for (const std::uint32_t devices : {2u, 4u}) {
    const DeviceRun run = run_on(devices);
    std::map<Pair, Sum> sent, received, seen_sent, seen_received;
    for (const qaic::Program& program : run.programs) {
      for (const qaic::PeerTransfer& transfer : program.peer_transfers) {
        const std::string own = std::to_string(program.slice), peer = std::to_string(transfer.peer);
        Sum& sum = transfer.incoming == 0 ? sent[{own, peer}] : received[{peer, own}];
        sum.transfers += 1;
        sum.bytes += std::int64_t(transfer.bytes);
      }
    }
    for (const Profile& profile : run.profiles) {
      for (const analysis::PeerRow& row : analysis::analyse_peers(profile).rows) {
        if (row.sent.transfers > 0) {
          seen_sent[{row.from, row.to}] = {row.sent.transfers, row.sent.bytes};
        }
        if (row.received.transfers > 0) {
          seen_received[{row.from, row.to}] = {row.received.transfers, row.received.bytes};
        }
      }
    }
    ASSERT_EQ(sent.size(), devices * (devices - 1));
    EXPECT_EQ(sent, received);
    EXPECT_EQ(seen_sent, sent);
    EXPECT_EQ(seen_received, received);
  }
}

}  // namespace
}  // namespace npuscope::peers_test
