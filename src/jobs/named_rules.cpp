#include "jobs/named_rules.hpp"

#include "npuscope/base/files.hpp"

namespace npuscope::jobs {

Result<analysis::Rules> named_rules(const std::string& name) {
  const bool is_file = name.ends_with(".toml") || name == "/dev/stdin";
  if (analysis::Rules::is_builtin(name) || !is_file) return analysis::Rules::builtin(name);
  const auto text = MappedFile::open(name);
  if (!text) return tl::unexpected(text.error());
  return analysis::Rules::parse(as_text(text->bytes()), name);
}

}  // namespace npuscope::jobs
