#include "jobs/role_files.hpp"

#include <utility>

#include "npuscope/base/files.hpp"

namespace npuscope::jobs {

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
