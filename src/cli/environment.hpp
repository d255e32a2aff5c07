// Variables of the environment.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

namespace npuscope::cli {

// Empty where it is not set.
inline std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// A job of GitHub Actions takes lines of its log for commands.

bool is_github_job();

// `page` as the log of such a job may hold it, elsewhere as it is: names out of files that would be
// commands are escaped as control characters are. The runner takes "::" at the begin of a line,
// behind blanks too, and "##[" anywhere.
//
//   without_job_commands("  ::error::x  12 us\n")   // "  \x3a:error::x  12 us\n"
std::string without_job_commands(std::string_view page);

}  // namespace npuscope::cli
