// The compiled graph (*_htp.json, *_bottom_mapping.json) as it stands in the file. Cycles are those
// of the first execute, of one slice where an op is sliced; a graph that was never run has none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/qnn/read/artifact_parts.hpp"
#include "formats/qnn/read/qhas.hpp"
#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/base/string_pool.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::qnn {

struct GraphTensor {
  std::uint64_t id = 0;
  bool is_constant = false;     // type 4, STATIC
  bool is_shape = false;        // where the file says so
  std::int64_t data_type = -1;  // of the enumeration QnnTypes.h
  StringId type{};              // "QUInt8", of a file that names types
  ShapeId dims{};               // in HtpGraph::shapes
};

struct GraphNode {
  std::uint64_t id = 0;
  StringId htp_op{}, qnn_op{}, qnn_op_type{}, flags{};
  double step_size = no_number;
  std::int64_t zero_offset = missing;
  std::int64_t rank = missing;
  std::int64_t start_cycle = missing;
  std::int64_t cycles = missing;
  std::int64_t dominant_path = missing;
  double cycles_per_packet = no_number;
  Traffic traffic;
  std::uint32_t first_input = 0, inputs = 0;    // in HtpGraph::uses
  std::uint32_t first_output = 0, outputs = 0;  // likewise
};

struct HtpGraph {
  std::string version;
  Origin origin = Origin::measured;  // of its numbers
  StringPool strings;
  Shapes shapes;
  std::vector<GraphTensor> tensors;
  std::vector<GraphNode> nodes;
  std::vector<std::uint64_t> uses;
};

// "UFIXED_POINT_8" of 1032, "0x1234" of a number that is not known.
std::string name_of_data_type(std::int64_t data_type);
// Of one element; 0 where unknown. For the names that the trace uses too: "QUInt8", "Float16".
std::int64_t bits_of_type(std::string_view name);

// An input error when nothing of the kind could be read.
Result<HtpGraph> read_htp_graph(ByteSource& source, CountedNotes& losses);

// The same of a graph that was not compiled (dump_json_qnn_graph=1): nodes are known by their
// names, and their types are those of QNN.
Result<HtpGraph> read_qnn_graph(ByteSource& source, CountedNotes& losses);

}  // namespace npuscope::qnn
