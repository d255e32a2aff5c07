// The QHAS summary (*_qnn_htp_analysis_summary.json) as it stands in the file. Absent numbers are
// `missing`; cycles are absolute PCYCLE counts, memory is bytes, percentages are 0 to 100.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "formats/qnn/read/artifact_parts.hpp"
#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/base/string_pool.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::qnn {

inline constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

// One lane of a core: "HMX" 256, "HVX" 512 …
struct QhasResource {
  StringId type{};
  std::int64_t tid = missing;
  std::int64_t start_cycle = missing;
  std::int64_t end_cycle = missing;
  std::int64_t timeline_cycles = missing;
  std::int64_t cycles_used = missing;
  double utilization = no_number;
  Traffic traffic;
};

struct QhasCore {
  std::int64_t core = 0;
  std::vector<QhasResource> resources;
  double percent_idle = no_number;
  double percent_utilization = no_number;
  std::int64_t time_us = missing;           // rounded down
  std::int64_t graph_execute_us = missing;  // rounded down
  double inferences_per_second = no_number;
  std::int64_t timeline_cycles = missing;
  std::int64_t peak_vtcm_alloc = missing;
  Traffic traffic;  // total_dram_read …
  std::int64_t unique_qnn_ops = missing;
  std::int64_t qnn_nodes = missing;
  std::int64_t unique_htp_ops = missing;
  std::int64_t htp_nodes = missing;
};

// A row of the three tables that sum up ops: by QNN type, by QNN node, by HTP type.
struct QhasSum {
  StringId op{};       // the type, or the node's name
  StringId op_type{};  // of a node
  std::int64_t cycles = missing;
  double percent_active = no_number;
  // Of core 0, 1 …; the field is named num_dominant_path_cycles_htp_<core>.
  std::vector<std::int64_t> dominant_path;
  double percent_dominant = no_number;  // of core 0
  std::int64_t parts = missing;         // num_htp_ops or instances
  Traffic traffic;
};

// One execution of an HTP op: a sliced op has a row for each slice.
struct QhasInstance {
  std::int64_t core = 0;
  std::int64_t tid = missing;
  std::uint64_t id = 0;
  StringId htp_op{}, qnn_op{}, qnn_op_type{}, type{};
  ShapeId dims{};  // in Qhas::shapes
  std::int64_t start_cycle = missing;
  std::int64_t cycles = missing;
  std::int64_t dominant_path = missing;
  double cycles_per_packet = no_number;
  double percent_dominant = no_number;
  bool hmx = false, hvx = false, dma_wait = false, dma_set = false, dma = false, sync = false;
  Traffic traffic;
  std::uint32_t first_input = 0;  // in Qhas::inputs
  std::uint32_t inputs = 0;
};

// A row of dominant_path_htp_<core>.
struct QhasSegment {
  std::int64_t core = 0;
  std::uint64_t id = 0;
  bool idle = false;
  std::int64_t start_cycle = missing;
  std::int64_t end_cycle = missing;
  std::int64_t dominant_path = missing;
};

struct Qhas {
  std::string version;   // of the artifact, "1.0.0"
  std::string model_id;  // empty: not said
  StringPool strings;
  Shapes shapes;
  std::vector<QhasCore> cores;
  std::vector<QhasSum> qnn_types, qnn_nodes, htp_types;
  std::vector<QhasInstance> instances;
  std::vector<std::uint64_t> inputs;
  std::vector<QhasSegment> segments;

  // The SDK writes a time of 0 for what was never executed: its estimate on the host.
  bool is_estimate() const {
    return std::ranges::any_of(cores, [](const QhasCore& core) { return core.time_us == 0; });
  }
};

// An input error when nothing of the kind could be read.
Result<Qhas> read_qhas(ByteSource& source, CountedNotes& losses);

}  // namespace npuscope::qnn
