// A trace of HailoRT's scheduler as profiles, one of each network: every frame as an inference with
// what it waited for, and the device with the network's oldest frame.
//
//   auto profiles = hailo::read_profiles(*source);
//
//   unit            spans
//   NETWORK         inference: from the host's call to the answer
//   device DEVICE   op NETWORK: while this frame is the network's oldest on the device, so that
//   their sum is how long it had any
//
// Phases have the parts of an inference (in the host's queue, on the device, until it is fetched),
// and when the host switched the device to the network and away. Source: docs/formats/hailo.md.
#pragma once

#include "formats/hailo/trace.hpp"
#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::hailo {

// An input error where no network has a frame that came back.
Result<std::vector<Profile>> read_profiles(ByteSource& source);

}  // namespace npuscope::hailo
