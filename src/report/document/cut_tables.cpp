#include <algorithm>

#include "report/document/document.hpp"

namespace npuscope::report {

void cut_tables(std::vector<Section>& sections, std::size_t rows) {
  for (Section& section : sections) {
    Table& table = section.table;
    if (table.rows.size() > rows) {
      table.row_count = std::max<std::uint64_t>(table.row_count, table.rows.size());
      table.rows.resize(rows);
    }
    cut_tables(section.parts, rows);
  }
}

}  // namespace npuscope::report
