#include "formats/qaic/qpc/network_descriptor.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "formats/qaic/damage.hpp"

namespace npuscope::qaic::network_descriptor_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The descriptor of tests/data/qaic/networkdesc_small.txt.
NetworkDescriptor small() {
  NetworkDescriptor network;
  network.network_name = "QAicGraph";
  IoBinding data;
  data.name = "data";
  data.initial.dims = {1, 3, 224, 224};
  data.transformed = IoInfo{IoDataType::int8q, 0.5f, -3, {1, 224, 224, 3}, 0};
  data.align = 4;
  IoBinding prob;
  prob.name = "prob";
  prob.initial = IoInfo{IoDataType::float16, 0, 0, {1, 1000}, 0};
  prob.is_partial_allowed = true;
  network.inputs = {data};
  network.outputs = {prob};
  network.dma_buffers = {{602112, 0}, {2000, 1}, {885376, 1}};
  network.num_cores = 1;
  network.num_threads = 6;
  network.num_hvx_threads = 4;
  network.thread_groups = {0, 0, 0, 0, 1, 2};
  network.thread_group_names = {"HVX", "HMX", "DMAIssue"};
  network.has_stats = true;
  network.stats.buffer_index = 2;
  network.stats.print_stats = true;
  network.stats.stats_level = 70;
  network.stats.op_stats_level = 1;
  network.stats.count_ddr_bandwidth = true;
  network.stats.pmu_events = {63, 112, 512};
  network.stats.ops_per_core = {2};
  const auto text = [&](std::string_view of) { return network.stats.texts.intern(of); };
  OpNameKind convert;
  convert.name = text("/conv1/Conv");
  convert.kind = text("aicconverttod32");
  convert.type = text("float16, i8");
  convert.memory = text("TCM");
  convert.shape = text("1 x 224 x 224 x 3");
  convert.operand = text("in x");
  convert.output_size = 150528;
  convert.attributes = text("{Group: 1}");
  convert.operands = {text("in DDR src data float16"), text("out TCM dst data i8")};
  OpNameKind convolution;
  convolution.name = text("/conv1/Conv");
  convolution.kind = text("aicconvolutiond32");
  network.stats.ops = {{{convert}, {convolution}, {}}};
  network.stats.pmu_stats_level = 1;
  return network;
}

MappedFile golden() {
  return std::move(*MappedFile::open(NPUSCOPE_TEST_DATA "/qaic/networkdesc_small.bin"));
}

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> out;
  for (const int value : values) out.push_back(std::byte(value));
  return out;
}

TEST(NetworkDescriptor, IsWrittenLikeProtobufDoes) {
  const MappedFile file = golden();
  EXPECT_EQ(as_text(write_network_descriptor(small())), as_text(file.bytes()));
}

TEST(NetworkDescriptor, IsReadFromProtobufsBytes) {
  const MappedFile file = golden();
  const auto network = read_network_descriptor(file.bytes(), "networkdesc.bin");
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_EQ(network->major_version, 9u);
  EXPECT_EQ(network->network_name, "QAicGraph");
  EXPECT_EQ(network->inputs[0].transformed->quantization_offset, -3);
  EXPECT_THAT(network->inputs[0].initial.dims, ElementsAre(1, 3, 224, 224));
  EXPECT_EQ(network->outputs[0].transformed, std::nullopt);
  EXPECT_EQ(network->dma_buffers[2].size, 885376u);
  EXPECT_THAT(network->thread_groups, ElementsAre(0, 0, 0, 0, 1, 2));
  EXPECT_THAT(network->thread_group_names, ElementsAre("HVX", "HMX", "DMAIssue"));
  EXPECT_THAT(network->stats.pmu_events, ElementsAre(63, 112, 512));
  ASSERT_EQ(network->stats.ops[0].size(), 3u);
  EXPECT_EQ(network->stats.ops[0][0][0].output_size, 150528u);
  const StringPool& texts = network->stats.texts;
  std::vector<std::string_view> operands;
  for (const StringId each : network->stats.ops[0][0][0].operands) operands.push_back(texts[each]);
  EXPECT_THAT(operands, ElementsAre("in DDR src data float16", "out TCM dst data i8"));
  EXPECT_EQ(texts[network->stats.ops[0][1][0].kind], "aicconvolutiond32");
  EXPECT_THAT(network->stats.ops[0][2], IsEmpty());
  EXPECT_EQ(as_text(write_network_descriptor(*network)), as_text(file.bytes()));
}

TEST(NetworkDescriptor, WithoutStatisticsHasNone) {
  NetworkDescriptor network = small();
  network.has_stats = false;
  const auto read = read_network_descriptor(write_network_descriptor(network), "n");
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->has_stats);
}

TEST(NetworkDescriptor, MayHaveUnpackedNumbersAndFieldsFromTheFuture) {
  const auto bytes = bytes_of({0x08, 9, 0x38, 2,     // major version 9, 2 cores
                               0x50, 0, 0x50, 1,     // thread groups one by one
                               0x9A, 0x06, 2, 7, 7,  // field 99, 2 bytes
                               0x1D, 1, 2, 3, 4});   // the name's field as a number: not taken
  const auto network = read_network_descriptor(bytes, "n");
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_THAT(network->thread_groups, ElementsAre(0, 1));
  EXPECT_EQ(network->network_name, "");
  EXPECT_EQ(network->batch_size, 0u) << "what proto3 does not write is zero";
}

TEST(NetworkDescriptor, ThatIsBrokenIsLocated) {
  const MappedFile file = golden();
  EXPECT_EQ(read_network_descriptor(file.bytes().first(40), "a.qpc").error().message,
            "a.qpc: network descriptor is broken at byte 13 of 40 (end of buffer exception); copy "
            "the file again");
  EXPECT_EQ(read_network_descriptor({}, "a.qpc").error().message,
            "a.qpc: 0 bytes without version and cores are not a network descriptor");
  EXPECT_THAT(read_network_descriptor(as_byte_span("NWDESC"), "a.qpc").error().message,
              HasSubstr("broken at byte 0 of 6"));
  const std::vector<std::byte> zeroes(100);
  EXPECT_THAT(read_network_descriptor(zeroes, "a.qpc").error().message,
              HasSubstr("broken at byte 0 of 100"));
}

TEST(NetworkDescriptor, WithMoreOpsThanAnyNetworkIsRefused) {
  // 4,999,999 empty ops of 2 bytes each, inside group, core and statistics; lengths as varints.
  std::string text(
      "\x08\x09\x38\x01"
      "\x62\x88\xAD\xE2\x04"
      "\x62\x83\xAD\xE2\x04"
      "\x0A\xFE\xAC\xE2\x04");
  for (int i = 0; i < 4'999'999; ++i) text.append("\x0A\0", 2);
  EXPECT_THAT(read_network_descriptor(as_byte_span(text), "a.qpc").error().message,
              HasSubstr("names more than 4194304 ops"));
}

TEST(NetworkDescriptor, WithMoreInputsThanAnyNetworkIsRefused) {
  std::string text("\x08\x09\x38\x01");
  for (int i = 0; i < 65'537; ++i) text.append("\x22\0", 2);
  EXPECT_EQ(read_network_descriptor(as_byte_span(text), "a.qpc").error().message,
            "a.qpc: network descriptor names more than 65536 inputs or outputs (byte 131076); it "
            "is damaged");
}

TEST(NetworkDescriptor, DamagedAnywhereIsAnErrorOrADescriptor) {
  const MappedFile file = golden();
  const auto check = [](const auto& bytes, std::size_t at) {
    const auto network = read_network_descriptor(bytes, "n");
    if (!network) return;
    const auto again = read_network_descriptor(write_network_descriptor(*network), "n");
    ASSERT_TRUE(again) << "byte " << at << ": " << again.error().message;
    EXPECT_EQ(network_descriptor_json(*again), network_descriptor_json(*network)) << "byte " << at;
    EXPECT_TRUE(nlohmann::json::accept(network_descriptor_json(*network))) << "byte " << at;
  };
  test::for_each_truncation(file.bytes(), check);
  test::for_each_damaged_byte(file.bytes(), check);
}

TEST(NetworkDescriptor, AsJsonHasAKeyALine) {
  NetworkDescriptor network;
  network.network_name = "a \"quoted\"\nname";
  network.num_cores = 1;
  IoBinding input;
  input.name = "data";
  input.initial = IoInfo{IoDataType::int8q, 0.25f, 3, {1, 8}, 0};
  network.inputs = {input};
  network.dma_buffers = {{8, 0}};
  network.thread_groups = {0, 1};
  network.thread_group_names = {"HVX", "HMX"};
  network.has_stats = true;
  network.stats.stats_level = 70;
  const auto text = [&](std::string_view of) { return network.stats.texts.intern(of); };
  network.stats.ops = {
      {{OpNameKind{text("n"), text("k"), {}, text("TCM"), {}, {}, {}, 5, {text("in")}}}, {}}};
  EXPECT_EQ(network_descriptor_json(network), R"({
  "major_version": 9,
  "minor_version": 0,
  "network_name": "a \"quoted\"\nname",
  "inputs": [
    {
      "name": "data",
      "io_initial": {
        "type": "Int8QTy",
        "qscale": 0.25,
        "qoffset": 3,
        "dims": [1, 8],
        "layout": 0
      },
      "io_transformed": {
        "type": "Int8QTy",
        "qscale": 0.25,
        "qoffset": 3,
        "dims": [1, 8],
        "layout": 0
      },
      "is_partial_allowed": false,
      "align": 0
    }
  ],
  "outputs": [],
  "dma_buffers": [
    {
      "size": 8,
      "dir": "In"
    }
  ],
  "num_cores": 1,
  "num_threads": 0,
  "num_hvx_threads": 0,
  "thread_groups": [0, 1],
  "stats": {
    "buff_num": 0,
    "print_stats": false,
    "stats_level": 70,
    "stats_no_host_sync": false,
    "print_op_stats": false,
    "op_stats_level": 0,
    "batch_size": 1,
    "count_ddr_bw": false,
    "utimer_freq_ms": 19200,
    "pmu_events": [],
    "ops_per_core": [],
    "core_op_name_kinds": [
      {
        "tg_op_name_kinds": [
          {
            "op_name_kinds": [
              {
                "name": "n",
                "kind": "k",
                "type": "",
                "memory": "TCM",
                "shape": "",
                "operand": "",
                "output_size": 5,
                "attributes": "",
                "operands": [
                  "in"
                ]
              }
            ]
          },
          {
            "op_name_kinds": []
          }
        ]
      }
    ],
    "pmu_stats_level": 0
  },
  "thread_group_names": [
    "HVX",
    "HMX"
  ],
  "batch_size": 1
}
)");
}

}  // namespace
}  // namespace npuscope::qaic::network_descriptor_test
