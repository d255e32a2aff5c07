// What a vendor's table of layers is: tables/*.toml, one file a format, no C++.
//
//   name = "SCALE-Sim compute report"     what pages call it
//   origin = "simulated"                  measured, estimated or simulated
//
//   [[column]]                            a table with all of these heads is of this format
//   head = "Total Cycles"
//   is = "time"                           of the op of the row, and what ops are ranked by
//   unit = "cycles"
//
// docs/formats/tables.md has all keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::tables {

enum class TableUnit : std::uint8_t {
  cycles,
  nanoseconds,
  microseconds,
  milliseconds,
  seconds,
  bytes,
  count,
  macs,
  percent,
};
constexpr bool is_time(TableUnit unit) { return unit <= TableUnit::seconds; }

struct TableColumn {
  enum class Is : std::uint8_t {
    op,
    node,
    kind,
    node_kind,
    time,  // of the op; ops are ranked by it
    number,
    key,  // says of what kind the row is, for `rows` and `engines`
  };

  std::string head;
  Is is = Is::number;
  bool optional = false;  // some versions lack it
  std::string name;       // of a number; else its head
  std::string prefix;     // of an op that the table gives a number
  TableUnit unit = TableUnit::count;
  Origin origin = Origin::measured;  // where it is another than the table's
};

// Rows that are no ops like the others.
struct TableRow {
  enum class Is : std::uint8_t {
    skipped,  // none at all
    unknown,  // ops whose numbers say nothing: they ran elsewhere, or cost the row above
    total,    // the sum of the rows above, which is tried
  };

  std::string head;
  std::vector<std::string> equals;
  Is is = Is::skipped;
  std::string says;      // in the note that counts them
  double tolerance = 0;  // of a total: by row, in the column's unit
};

// Hardware that a value of a column stands for.
struct TableEngine {
  std::string head;
  std::vector<std::string> equals;
  Engine engine = Engine::compute;
};

struct TableDescription {
  std::string name, device;
  Origin origin = Origin::measured;
  char delimiter = ',';
  bool sum_is_inference = false;  // ops run one after the other: an inference takes their sum
  std::string block = "table";    // what each of several tables of a file is: "request"
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
  std::vector<TableEngine> engines;
  std::vector<std::string> notes;  // what the numbers are, for who reads them
};

// `file` is named in errors.
Result<TableDescription> parse_description(std::string_view toml, const std::string& file);

// Those of tables/, in the order of their files.
const std::vector<TableDescription>& builtin_descriptions();

}  // namespace npuscope::tables
