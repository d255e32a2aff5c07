// qnn_op_trace.json of ONNX Runtime's QNN execution provider (enable_framework_op_trace=1): which
// nodes of the model became which op of which QNN graph, and why others did not.
//
//   graphs[0].ops[1]     conv0_token_1, Conv2d, of DequantizeLinear_token_28, conv0_token_1, …
//   left_out[0]          hardmax0, Hardmax, "Operators of type `Hardmax` are not supported by …"
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::qnn {

struct FrameworkTrace {
  struct MappedOp {
    std::string name, type;            // of the QNN op
    std::vector<std::string> sources;  // nodes of the model
  };
  struct Graph {
    std::string name;
    std::vector<MappedOp> ops;
  };
  struct LeftOut {
    std::string name, type, reason;
  };

  std::string model;
  std::vector<Graph> graphs;
  std::vector<LeftOut> left_out;
  std::int64_t nodes = -1, supported_nodes = -1;  // of the model; -1: not said

  const Graph* find(std::string_view graph) const;
};

// Whether a JSON file begins like one.
bool is_framework_trace(std::string_view head);

// An input error when it says of no node where it went.
Result<FrameworkTrace> read_framework_trace(ByteSource& source, CountedNotes& losses);

}  // namespace npuscope::qnn
