// The schedule that Furiosa's compiler estimates (furiosa-tcc --evaluate-tcl --tcl-plot FILE): what
// each instruction occupies and when, in cycles, and the tensors in the SRAM.
//
//   {"title": …, "total_memory": 268435456, "page_size": 65536,
//    "instructions": [{"index": "3", "contexts": ["MainContext"], "lifetime": {"begin": 40, "end":
//    99},
//                      "input_tensors": […], "output_tensors": […],
//                      "description": "cycles: 59\nname: EinsumByDpe \"projection\""}, …],
//    "tensors": [{"name": …, "buffer_type": "Sram", "lifetime": {…}, "size": 4096, "shape": …}, …]}
//
//   auto profile = furiosa::read_schedule(*source);
#pragma once

#include <string_view>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::furiosa {

bool looks_like_schedule(std::string_view head);
Result<Profile> read_schedule(ByteSource& source);

}  // namespace npuscope::furiosa
