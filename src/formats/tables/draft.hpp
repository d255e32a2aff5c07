// A description of an unknown table, drafted from its heads and its first rows, for a person to
// correct.
//
//   auto draft = draft_description(*source);        // of layers.csv
//   draft->columns[0].column.is                     // TableColumn::Is::op, "a text, different in
//   each row" description_text(*draft)                        // mine.toml
#pragma once

#include <string>
#include <vector>

#include "formats/tables/description.hpp"
#include "npuscope/base/byte_source.hpp"

namespace npuscope::tables {

struct DraftColumn {
  TableColumn column;
  std::string example;  // of the first row
  bool is_unit_guessed = false;
};

struct Draft {
  std::string file;
  std::string name;  // of the table: the file's
  char delimiter = ',';
  std::uint64_t rows = 0;  // that were looked at
  std::vector<DraftColumn> columns;

  bool has(TableColumn::Is is) const;
};

// An input error where no line of the file looks like a header with rows below.
Result<Draft> draft_description(ByteSource& source);

// As a file of tables/ has it.
std::string description_text(const Draft& draft);

}  // namespace npuscope::tables
