// What torq-run-module --dump_dispatches writes: where each dispatch of a model lies in the NPU's
// external memory (XRAM). Nothing has a time.
//
//   {"module": "module", "dispatches": [{"name": "smallcnn_dispatch_0",
//     "segments": [{"index": 0, "initialized": true, "size": 72, "address": 1078924}, …],
//     "bindings": [{"index": 0, "id": 0, "address": 9469952, "offset": 0, "size": 3072,
//                   "is_read_only": true, "is_write_only": false}, …]}]}
//
// Segments may share addresses, so their sizes do not add up: bytes are counted once.
#pragma once

#include <string_view>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::torq {

// What torq-compile --torq-export-tensor-sizes writes: the bytes of the operands and of the result
// of each operation, before it is tiled and placed. Nothing has a time.
//
//   linalg.conv_2d_nchw_fchw_q,69444,65536,loc(callsite("cnn.mlir":51:11 at "cnn.mlir":2:3))
//   arith.constant,0,4608,loc("cnn.mlir":12:10)
//   hal.interface.binding.subspan,unknown, unknown,loc("cnn.mlir":2:3)
//
// Operations of a region, which work on scalars, stand in front of the one that has the region:
// they are left out, counted.
class SourceFiles;

bool looks_like_tensor_sizes(std::string_view head);

// An op for each operation on tensors, in their order, named by the source's operators where
// `sources` has its lines. An input error where no line is one.
Result<Profile> read_tensor_sizes(ByteSource& source, SourceFiles& sources);

bool looks_like_dispatch_memory(std::string_view head);

// An op for each dispatch. An input error where it is not such a file, or none is whole.
Result<Profile> read_dispatch_memory(ByteSource& source);

}  // namespace npuscope::torq
