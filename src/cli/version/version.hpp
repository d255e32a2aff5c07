// What -V prints.
#pragma once

#include <string>

namespace npuscope::cli {

// The version, the commit, how it was compiled, and the libraries that it was compiled with.
std::string version_text(const std::string& program);

}  // namespace npuscope::cli
