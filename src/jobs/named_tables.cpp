#include "jobs/named_tables.hpp"

#include <utility>

#include "npuscope/base/files.hpp"

namespace npuscope::jobs {

Result<analysis::Rules> named_rules(const std::string& name) {
  const bool is_file = name.ends_with(".toml") || name == "/dev/stdin";
  if (analysis::Rules::is_builtin(name) || !is_file) return analysis::Rules::builtin(name);
  const auto text = MappedFile::open(name);
  if (!text) return tl::unexpected(text.error());
  return analysis::Rules::parse(as_text(text->bytes()), name);
}

Result<std::vector<RoleTable>> read_roles(std::span<const std::string> files) {
  std::vector<RoleTable> tables;
  for (const std::string& file : files) {
    const auto text = MappedFile::open(file);
    if (!text) return tl::unexpected(text.error());
    auto table = RoleTable::parse(as_text(text->bytes()), file);
    if (!table) return tl::unexpected(table.error());
    tables.push_back(std::move(*table));
  }
  return tables;
}

}  // namespace npuscope::jobs
