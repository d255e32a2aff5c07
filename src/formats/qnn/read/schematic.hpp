// The compiled graph as QNN's HTP compiler dumps it: <graph>_schematic.bin, which is text. It has
// what an HTP_GRAPH has, without anything that ran, and more:
//
//   graph_before_optimization   the QNN graph, whose node 0x17 is the lower half of ids
//   graph_after_optimization    HTP ops (0x0000439200000017), their inputs, shapes and types
//   bandwidth_information       bytes of DDR and VTCM that each op moves
//   opdesc_map                  ops that have no tensor: spills, fills, slices of the output
//   checkpoints.append(...)     [ 5 , 6 ]: the op waits for checkpoint 5 and counts for 6
//   tcm_block_info              where blocks lie in VTCM
//   qnn_name_translations       the QNN op of each lower half
//
// A file that ends early or holds what is not understood is read as far as it is sound. Facts:
// docs/formats/qnn.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/qnn/read/htp_graph.hpp"
#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::qnn {

// One op may begin when the other has ended, by a checkpoint of the compiler.
struct OrderEdge {
  std::uint64_t from = 0, to = 0;  // ids of ops
};

struct Schematic {
  std::string name;  // of the graph
  HtpGraph graph;
  std::vector<OrderEdge> order;
  std::int64_t vtcm_end = missing;  // the highest address in VTCM that a block takes
  std::uint64_t qnn_nodes = 0;      // of the graph before optimization, without constants
};

// Whether a file begins like one.
bool is_schematic(std::string_view head);

// An input error when no op could be read.
Result<Schematic> read_schematic(ByteSource& source, CountedNotes& losses);

}  // namespace npuscope::qnn
