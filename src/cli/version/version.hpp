// What -V prints.
#pragma once

#include <string>

namespace npuscope::cli {

// The version, the commit, how it was compiled, and the libraries that it was compiled with.
std::string version_text(const std::string& program);

// "7e9407940d43", "7e9407940d43, modified", "unknown". In a file of its own, the only one that each
// commit compiles again.
const char* build_commit();

}  // namespace npuscope::cli
