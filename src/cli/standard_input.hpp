// "-" where a file is read.
#pragma once

#include <string>
#include <string_view>

#include "npuscope/base/result.hpp"

namespace npuscope::cli {

// "-" becomes a path at which standard input can be opened, any number of times: what comes out of
// a pipe is kept in a file without a name. Other names stay.
Result<std::string> input_file(const std::string& name);

inline constexpr std::string_view standard_input_path = "/dev/stdin";

// It is called "standard input" in all that is printed.
std::string with_standard_input_named(std::string text);

}  // namespace npuscope::cli
