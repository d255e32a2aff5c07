// Ops that are part of the measurement, not of the model: on Cloud AI 100 each thread's last, which
// writes the statistics buffer.
#pragma once

#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

inline bool is_measuring(std::string_view kernel) { return kernel.starts_with("aicendcyclestats"); }

inline bool is_measuring(const Profile& profile, OpId op) {
  return index_of(op) < profile.ops.size() &&
         is_measuring(profile.text(profile.ops[index_of(op)].kind));
}

}  // namespace npuscope::analysis
