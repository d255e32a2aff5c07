// The profile of an ONNX Runtime session (a Chrome trace of its own making): a model_run is an
// inference, what comes before the first is setting up, a node is its operator on its execution
// provider.
//
//   Profile profile = chrome::make_profile(std::move(events));
//   if (onnxruntime::is_session(profile)) onnxruntime::make_session(profile);
//   profile.text(profile.ops[7].name)        // "conv3_nchwc", without _kernel_time
//   profile.text(profile.ops[7].node_kind)   // "Conv", the real type after fusion
//
// A Loop or If encloses the nodes of its body and keeps what these leave of its time. Nodes of no
// model_run (the recorder stopped in the middle of one) are no work; a note counts them.
// docs/formats/onnxruntime.md.
#pragma once

#include "npuscope/profile/profile.hpp"

namespace npuscope::onnxruntime {

inline constexpr const char* format_name = "ONNX Runtime profile";

bool is_session(const Profile& profile);
void make_session(Profile& profile);

}  // namespace npuscope::onnxruntime
