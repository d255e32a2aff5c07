// Files of other tools that npuscope does not read, by marks of their own: what they are, so that
// nobody takes them for broken profiles.
#pragma once

#include <optional>
#include <string>

#include "formats/open_table.hpp"

namespace npuscope {

// "an ETDump of ExecuTorch, which npuscope does not read; …"; none of what may be a profile.
std::optional<std::string> what_else_it_is(const Candidate& candidate);

// Of a TensorFlow Lite model that no SigmaStar tool wrote.
std::string tflite_advice();

}  // namespace npuscope
