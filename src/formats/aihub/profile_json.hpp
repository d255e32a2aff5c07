// The profile of a job of Qualcomm AI Hub, as its client writes it (ProfileJob.download_profile(),
// download_results()): how long each inference took, the layers with what ran them, loads, memory.
//
//   {"execution_summary": {"estimated_inference_time": 281, "all_inference_times": [1995, 350,
//   281],
//                          "estimated_inference_peak_memory": 32792576, "first_load_time": 2495537,
//                          "inference_memory_peak_range": [1708032, 1708032], …},
//    "execution_detail": [{"name": "/Conv", "type": "Conv", "compute_unit": "NPU",
//                          "execution_time": 127, "execution_cycles": 180315}, …]}
//
//   auto profile = aihub::read_profile_json(*source);
//
// Times are whole microseconds, memory bytes. The time of a layer is the shortest of all
// inferences, and so is "estimated_inference_time". Source: docs/formats/aihub.md.
#pragma once

#include <string_view>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::aihub {

bool looks_like_profile_json(std::string_view head);
Result<Profile> read_profile_json(ByteSource& source);

}  // namespace npuscope::aihub
