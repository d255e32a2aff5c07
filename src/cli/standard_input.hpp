// "-" where a file is read.
#pragma once

#include <string>

#include "npuscope/base/result.hpp"

namespace npuscope::cli {

// "-" becomes a path at which standard input can be opened, any number of times: what comes out of
// a pipe is kept in a file without a name. Other names stay.
Result<std::string> input_file(const std::string& name);

}  // namespace npuscope::cli
