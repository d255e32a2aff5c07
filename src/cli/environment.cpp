#include "cli/environment.hpp"

namespace npuscope::cli {

bool is_github_job() { return environment("GITHUB_ACTIONS") == "true"; }

std::string without_job_commands(std::string_view page) {
  if (!is_github_job()) return std::string(page);
  std::string safe;
  safe.reserve(page.size());
  bool only_blanks = true;  // in this line so far
  for (std::size_t i = 0; i < page.size(); ++i) {
    const std::string_view rest = page.substr(i);
    if (only_blanks && rest.starts_with("::")) {
      safe += "\\x3a";
    } else if (rest.starts_with("##[")) {
      safe += "\\x23";
    } else {
      safe += page[i];
    }
    only_blanks = page[i] == '\n' || (only_blanks && (page[i] == ' ' || page[i] == '\t'));
  }
  return safe;
}

}  // namespace npuscope::cli
