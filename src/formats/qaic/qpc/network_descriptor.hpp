// networkdesc.bin: protobuf message aicnwdesc.networkDescriptor, version 9.0, field numbers as
// published by quic/software-kit-for-qualcomm-cloud-ai-100 (BSD-3-Clause-Clear), and inside it the
// statistics descriptor `Stats` that names every recorded op.
//
// The key of an op is (core, thread group, position in the group's list); the raw statistics
// buffer holds only positions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "npuscope/base/files.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/base/string_pool.hpp"

namespace npuscope::qaic {

enum class IoDataType : std::uint32_t {
  float32 = 0,
  float16 = 1,
  int8q = 2,
  uint8q = 3,
  int16q = 4,
  int32q = 5,
  int32i = 6,
  int64i = 7,
  int8 = 8,
};

struct IoInfo {  // what a buffer holds before or after its transformation
  IoDataType type = IoDataType::float32;
  float quantization_scale = 0;
  std::int32_t quantization_offset = 0;
  std::vector<std::int64_t> dims;
  std::uint32_t layout = 0;  // 0 flat
  bool operator==(const IoInfo&) const = default;
};

struct IoBinding {  // one input or output
  std::string name;
  IoInfo initial;                     // on the host
  std::optional<IoInfo> transformed;  // on the device; absent: as on the host
  bool is_partial_allowed = false;
  std::uint32_t align = 0;
};

struct DmaBuffer {
  std::uint64_t size = 0;
  std::uint32_t direction = 0;  // 0 in, 1 out
};

// Texts are those of StatsDescriptor::texts: a large network names hundreds of thousands of ops, in
// few words.
struct OpNameKind {
  StringId name{};    // path in the model graph
  StringId kind{};    // kernel
  StringId type{};    // distinct operand element types: "float16, i8"
  StringId memory{};  // TCM, DDR
  StringId shape{};
  StringId operand{};  // older form of `operands`
  StringId attributes{};
  std::uint64_t output_size = 0;   // bytes
  std::vector<StringId> operands;  // "in TCM act conv1_out i8 1 x 56 x 56 x 64 196KB"
};

struct StatsDescriptor {
  std::uint32_t buffer_index = 0;  // DMA buffer that carries the statistics
  bool print_stats = false;
  std::uint32_t stats_level = 0;
  bool no_host_sync = false;
  bool print_op_stats = false;
  std::uint32_t op_stats_level = 0;
  std::uint32_t batch_size = 1;
  bool count_ddr_bandwidth = false;
  std::int32_t utimer_ticks_per_ms = 19200;
  std::vector<std::int32_t> pmu_events;
  std::vector<std::int32_t> ops_per_core;
  StringPool texts;  // of the ops
  // [core][thread group][position]
  std::vector<std::vector<std::vector<OpNameKind>>> ops;
  std::uint32_t pmu_stats_level = 0;
};

struct NetworkDescriptor {
  std::uint32_t major_version = 9;
  std::uint32_t minor_version = 0;
  std::string network_name;
  std::vector<IoBinding> inputs;
  std::vector<IoBinding> outputs;
  std::vector<DmaBuffer> dma_buffers;
  std::uint32_t num_cores = 0;
  std::uint32_t num_threads = 0;  // per core
  std::uint32_t num_hvx_threads = 0;
  std::vector<std::uint32_t> thread_groups;     // group id of each thread of a core
  std::vector<std::string> thread_group_names;  // HVX, HMX, DMAIssue
  std::uint32_t batch_size = 1;
  bool has_stats = false;
  StatsDescriptor stats;
};

std::vector<std::byte> write_network_descriptor(const NetworkDescriptor& descriptor);

// Unknown fields are skipped, as protobuf asks. Input errors name what is broken and at which byte.
Result<NetworkDescriptor> read_network_descriptor(ByteSpan bytes, std::string_view name);

// The same as JSON text (the vendor's extractor writes networkdesc.json), one key a line.
std::string network_descriptor_json(const NetworkDescriptor& descriptor);

// What a network descriptor must not contradict in itself before anything relies on it.

// "a thread is in group 3, but 3 groups have names"; empty when the descriptor is sound.
std::string contradiction_in(const NetworkDescriptor& network);

}  // namespace npuscope::qaic
