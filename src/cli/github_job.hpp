// A job of GitHub Actions takes lines of its log for commands.
#pragma once

#include <string>
#include <string_view>

namespace npuscope::cli {

bool is_github_job();

// `page` as the log of such a job may hold it, elsewhere as it is: names out of files that would be
// commands are escaped as control characters are. The runner takes "::" at the begin of a line,
// behind blanks too, and "##[" anywhere.
//
//   without_job_commands("  ::error::x  12 us\n")   // "  \x3a:error::x  12 us\n"
std::string without_job_commands(std::string_view page);

}  // namespace npuscope::cli
