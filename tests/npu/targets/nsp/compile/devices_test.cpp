// One model on several devices: the parts do the work of the whole, what is sent is received, and
// it is as much as an all-reduce by hand takes.

#include <map>
#include <random>

#include "formats/qaic/qpc/program_slices.hpp"
#include "npu/graph/parsed_onnx.hpp"
#include "npu/graph/random_models.hpp"
#include "npu/targets/nsp/compile/collisions.hpp"
#include "npu/targets/nsp/compile/compile.hpp"
#include "npu/targets/nsp/compile/compile_fixture.hpp"
#include "npu/targets/nsp/compile/devices/devices.hpp"

namespace npuscope::npu::nsp::devices_test {
namespace {

std::vector<CompiledNetwork> compiled_for(const Graph& graph, std::uint32_t devices,
                                          CompileOptions options) {
  const ShardedGraph sharded = shard_graph(graph, devices, 32);
  std::vector<CompiledNetwork> networks;
  options.slices = devices;
  for (options.slice = 0; options.slice < devices; ++options.slice) {
    networks.push_back(compiled(device_graph(sharded, options.slice), options));
  }
  return networks;
}

std::vector<const qaic::Program*> programs_of(const std::vector<CompiledNetwork>& networks) {
  std::vector<const qaic::Program*> programs;
  for (const CompiledNetwork& network : networks) programs.push_back(&network.program);
  return programs;
}

std::uint64_t sent_bytes(const qaic::Program& program) {
  std::uint64_t bytes = 0;
  for (const auto& transfer : program.peer_transfers) {
    bytes += transfer.incoming == 0 ? transfer.bytes : 0;
  }
  return bytes;
}

// The matrix of a program: bytes from device to device, as sent and as awaited.
using Matrix = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>;
std::pair<Matrix, Matrix> matrices(const std::vector<CompiledNetwork>& networks) {
  Matrix sent, received;
  for (const CompiledNetwork& network : networks) {
    for (const auto& transfer : network.program.peer_transfers) {
      const std::uint32_t own = network.program.slice;
      if (transfer.incoming == 0) sent[{own, transfer.peer}] += transfer.bytes;
      if (transfer.incoming == 1) received[{transfer.peer, own}] += transfer.bytes;
    }
  }
  return {sent, received};
}

std::uint64_t hmx_macs(const std::vector<CompiledNetwork>& networks) {
  std::uint64_t macs = 0;
  for (const CompiledNetwork& network : networks) macs += network.metrics.hmx_macs;
  return macs;
}

struct Case {
  const char* preset;
  InputSizes sizes;
  std::uint64_t hidden;  // elements of a token's vector
  std::uint64_t tokens;  // of all sequences
};

// Each layer sums up twice, after attention and after the feed-forward network; the vectors of all
// tokens are float16.
void expect_tensor_parallel(const Case& model, std::uint32_t devices) {
  SCOPED_TRACE(testing::Message() << model.preset << " on " << devices << " devices");
  constexpr std::uint64_t layers = 2;
  const Graph graph = generated_model(model.preset, model.sizes, layers);
  const CompileOptions options = options_for(4);
  const CompiledNetwork one = compiled(graph, options);
  const auto parts = compiled_for(graph, devices, options);
  EXPECT_EQ(hmx_macs(parts), one.metrics.hmx_macs);
  std::uint64_t original = 0;
  for (const CompiledNetwork& part : parts) original += part.metrics.original_macs;
  EXPECT_EQ(original, one.metrics.original_macs);
  const std::uint64_t vectors = model.tokens * model.hidden * 2;
  for (const CompiledNetwork& part : parts) {
    EXPECT_EQ(sent_bytes(part.program), 2 * layers * 2 * vectors * (devices - 1) / devices);
    EXPECT_EQ(part.program.slices, devices);
    EXPECT_EQ(part.program.retained_bytes, one.program.retained_bytes / devices);
  }
  const auto [sent, received] = matrices(parts);
  EXPECT_EQ(sent, received);
  EXPECT_EQ(sent.size(), devices * (devices - 1));
  const auto programs = programs_of(parts);
  const auto joined = qaic::join_slices(programs, "joined");
  ASSERT_TRUE(joined) << joined.error().message;
}

TEST(Devices, ShareTransformersAsByHand) {
  for (const std::uint32_t devices : {2u, 4u}) {
    expect_tensor_parallel({"amber-7b", {1, 1, 128}, 4096, 1}, devices);
    expect_tensor_parallel({"amber-7b", {1, 32, 128}, 4096, 32}, devices);
    expect_tensor_parallel({"qwen3-0.6b", {1, 32, 128}, 1024, 32}, devices);
    expect_tensor_parallel({"bert-base", {2, 128, 0}, 768, 256}, devices);
  }
}

// 32 heads on 3 devices: 11, 11 and 10.
TEST(Devices, ThatGetUnlikePartsStillDoAllTheWork) {
  const Graph graph = generated_model("amber-7b", {1, 32, 128}, 1);
  const auto parts = compiled_for(graph, 3, options_for(4));
  EXPECT_EQ(hmx_macs(parts), compiled(graph, options_for(4)).metrics.hmx_macs);
  EXPECT_GT(parts[0].metrics.hmx_macs, parts[2].metrics.hmx_macs);
  const auto [sent, received] = matrices(parts);
  EXPECT_EQ(sent, received);
  const auto programs = programs_of(parts);
  EXPECT_TRUE(qaic::join_slices(programs, "joined"));
}

TEST(Devices, ShareConvolutionsByChannels) {
  const Graph graph = repository_model("light_resnet50.onnx");
  const auto parts = compiled_for(graph, 2, options_for(4));
  std::uint64_t original = 0;
  for (const auto& part : parts) original += part.metrics.original_macs;
  EXPECT_EQ(original, compiled(graph, options_for(4)).metrics.original_macs);
  const auto [sent, received] = matrices(parts);
  EXPECT_EQ(sent, received);
}

TEST(Devices, DoNotCollideInVtcm) {
  const ShardedGraph sharded = shard_graph(generated_model("qwen3-0.6b", {1, 32, 128}, 1), 2, 32);
  CompileOptions options = options_for(3);
  options.slices = 2;
  for (options.slice = 0; options.slice < 2; ++options.slice) {
    const auto check = check_collisions(device_graph(sharded, options.slice), options);
    EXPECT_GT(check.accesses, 300u);
    EXPECT_EQ(check.collisions, 0u);
    EXPECT_EQ(check.early_ddr_reads, 0u);
  }
}

// Whatever is in them: every part compiles, everything sent is awaited, and nobody waits for ever.
TEST(Devices, TakeRandomModels) {
  std::mt19937 random(7);
  for (unsigned seed = 0; seed < 60; ++seed) {
    const std::string text = RandomModel(seed).text();
    SCOPED_TRACE(text);
    const Graph graph = parsed(text);
    const std::uint32_t devices = 2 + random() % 3;
    const auto parts = compiled_for(graph, devices, options_for(1 + random() % 8));
    const auto programs = programs_of(parts);
    const auto joined = qaic::join_slices(programs, "joined");
    ASSERT_TRUE(joined) << devices << " devices: " << joined.error().message;
    for (const auto& part : parts) {
      const auto again = qaic::read_program(qaic::write_program(part.program), "random");
      ASSERT_TRUE(again) << again.error().message;
      ASSERT_EQ(again->peer_transfers.size(), part.program.peer_transfers.size());
      ASSERT_EQ(qaic::fingerprint(*again), qaic::fingerprint(part.program));
    }
  }
}

// HVX works on what the HMX has finished there, too; the exchanges stay what they were.
TEST(Devices, AreCutAlongPiecesWhenAskedTo) {
  const Graph graph = generated_model("bert-base", {8, 128, 0}, 2);
  CompileOptions options = options_for(4);
  const auto whole = compiled_for(graph, 2, options);
  options.cuts_slices = true;
  const auto cut = compiled_for(graph, 2, options);
  const auto joined = qaic::join_slices(programs_of(cut), "cut");
  EXPECT_TRUE(joined) << joined.error().message;
  EXPECT_GT(cut[0].program.tasks.size(), whole[0].program.tasks.size());
  EXPECT_EQ(hmx_macs(cut), hmx_macs(whole));
  EXPECT_EQ(matrices(cut), matrices(whole));
}

TEST(Devices, NeedALinkBetweenThem) {
  Target target = aic100();
  target.peer_bytes_per_s = 0;
  CompileOptions options = options_for(2);
  options.slices = 2;
  const auto network = compile_network(generated_model("bert-base", {1, 8, 0}, 1), target, options);
  ASSERT_FALSE(network);
  EXPECT_EQ(network.error().kind, ErrorKind::usage);
}

TEST(JoinSlices, RefusesPartsThatDoNotBelongTogether) {
  const Graph graph = generated_model("bert-base", {1, 32, 0}, 1);
  auto parts = compiled_for(graph, 2, options_for(2));
  const auto message = [&] {
    const auto programs = programs_of(parts);
    const auto joined = qaic::join_slices(programs, "qpc");
    return joined ? std::string() : joined.error().message;
  };
  EXPECT_EQ(message(), "");
  const auto good = parts;
  parts[1].program.slice = 0;
  EXPECT_NE(message().find("is the part of device 0 of 2"), std::string::npos) << message();
  parts = good;
  parts[1].program.peer_transfers.pop_back();
  EXPECT_NE(message().find("sent but"), std::string::npos) << message();
  parts = good;
  for (auto& transfer : parts[0].program.peer_transfers) transfer.bytes += 1;
  EXPECT_NE(message().find("has no sender of as many"), std::string::npos) << message();
  parts = good;
  for (auto* part : {&parts[0], &parts[1]}) {
    // Each device now waits before it sends.
    for (auto& transfer : part->program.peer_transfers) {
      auto& task = part->program.tasks[transfer.task];
      if (transfer.incoming != 0) continue;
      const auto last =
          std::find_if(part->program.peer_transfers.begin(), part->program.peer_transfers.end(),
                       [](const auto& each) { return each.incoming == 1; });
      const auto& begin = part->program.queue_begin;
      const auto queue =
          std::upper_bound(begin.begin(), begin.end(), last->task) - begin.begin() - 1;
      task.wait_begin = std::uint32_t(part->program.waits.size());
      task.wait_count = 1;
      part->program.waits.push_back(
          {std::uint32_t(queue), last->task - begin[std::size_t(queue)] + 1});
    }
  }
  EXPECT_NE(message().find("deadlocks"), std::string::npos) << message();
}

TEST(PartitionConfig, IsWrittenAsItIsRead) {
  const PartitionConfig config{"Partition0", {0, 1, 5}, 14};
  const std::string text = write_partition_config(config);
  EXPECT_EQ(text, R"({
  "connections": [
    {"devices": [0, 1, 5], "type": "p2p"}
  ],
  "partitions": [
    {
      "name": "Partition0",
      "devices": [
        {"deviceId": 0, "numCores": 14},
        {"deviceId": 1, "numCores": 14},
        {"deviceId": 5, "numCores": 14}
      ]
    }
  ]
}
)");
  const auto again = read_partition_config(as_byte_span(text), "p.json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->devices, config.devices);
  EXPECT_EQ(again->cores, 14u);
}

TEST(PartitionConfig, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "not JSON"},
      {"[]", "no list of partitions"},
      {R"({"partitions": []})", "has 0 partitions"},
      {R"({"partitions": [{}, {}]})", "has 2 partitions"},
      {R"({"partitions": [{"nodeList": []}]})", "lists nodes"},
      {R"({"partitions": [{"name": "p"}]})", "no list of 1 to 64 devices"},
      {R"({"partitions": [{"devices": [{"deviceId": 0}]}]})", "lacks a deviceId or numCores"},
      {R"({"partitions": [{"devices": [{"deviceId": -1, "numCores": 2}]}]})", "lacks a deviceId"},
      {R"({"partitions": [{"devices": [{"deviceId": 0, "numCores": 2},
                                       {"deviceId": 1, "numCores": 4}]}]})",
       "give them the same number"},
      {R"({"partitions": [{"devices": [{"deviceId": 0, "numCores": 2},
                                       {"deviceId": 0, "numCores": 2}]}]})",
       "given twice"},
      {R"({"partitions": [{"devices": [{"deviceId": 0, "numCores": 2},
                                       {"deviceId": 1, "numCores": 2}]}]})",
       "no list of connections"},
      {R"({"connections": [{"devices": [0, 1], "type": "host"}, {"devices": [0], "type": "p2p"}],
           "partitions": [{"devices": [{"deviceId": 0, "numCores": 2},
                                       {"deviceId": 1, "numCores": 2}]}]})",
       "no connection of type p2p joins the devices 0, 1"}};
  for (const auto& [json, expected] : cases) {
    const auto config = read_partition_config(as_byte_span(json), "p.json");
    ASSERT_FALSE(config) << json;
    EXPECT_NE(config.error().message.find(expected), std::string::npos) << config.error().message;
    EXPECT_EQ(config.error().message.find("p.json: "), 0u);
  }
}

}  // namespace
}  // namespace npuscope::npu::nsp::devices_test
