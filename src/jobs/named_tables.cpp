#include "jobs/named_tables.hpp"

#include <utility>

#include "base/try.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::jobs {

Result<analysis::Rules> named_rules(const std::string& name) {
  const bool is_file = name.ends_with(".toml") || name == "/dev/stdin";
  if (analysis::Rules::is_builtin(name) || !is_file) return analysis::Rules::builtin(name);
  TRY_AS(text, MappedFile::open(name));
  return analysis::Rules::parse(as_text(text->bytes()), name);
}

Result<std::vector<RoleTable>> read_roles(std::span<const std::string> files) {
  std::vector<RoleTable> tables;
  for (const std::string& file : files) {
    TRY_AS(text, MappedFile::open(file));
    TRY_AS(table, RoleTable::parse(as_text(text->bytes()), file));
    tables.push_back(std::move(*table));
  }
  return tables;
}

}  // namespace npuscope::jobs
