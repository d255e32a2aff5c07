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

bool looks_like_dispatch_memory(std::string_view head);

// An op for each dispatch. An input error where it is not such a file, or none is whole.
Result<Profile> read_dispatch_memory(ByteSource& source);

}  // namespace npuscope::torq
