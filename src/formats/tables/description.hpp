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
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/pattern.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope {
struct EmbeddedToml;
}

namespace npuscope::tables {

enum class TableUnit : std::uint8_t {
  cycles,
  nanoseconds,
  microseconds,
  milliseconds,
  seconds,
  bytes,
  kibibytes,
  count,
  macs,
  percent,
  hertz,
  per_second,
};
constexpr bool is_time(TableUnit unit) { return unit <= TableUnit::seconds; }

struct TableColumn {
  enum class Is : std::uint8_t {
    op,
    node,
    kind,
    node_kind,
    types,
    shape,
    unit,       // the hardware that the row ran on
    inference,  // which one the row is of
    start,      // of the row: the table has a timeline
    time,       // of the op; ops are ranked by it
    latency,    // of rows that are networks: of its inferences, or a statistic of it
    calls,      // how many times the row's op ran: times are of one of them
    number,
    network,  // of rows that are networks: its name
    device,   // that the network is for
    clock,    // the rate of the device's cycles
    setting,  // that the numbers are for
    key,      // says of what kind the row is, for `rows` and `engines`
  };

  std::string head;
  Is is = Is::number;
  bool optional = false;  // some versions lack it
  bool zero_is_unknown = false;
  std::string name;    // of a number; else its head
  std::string prefix;  // of an op that the table gives a number
  TableUnit unit = TableUnit::count;
  Statistic statistic = Statistic::none;  // that a number is of many inferences
  Origin origin = Origin::measured;       // where it is another than the table's
  std::uint64_t part = 0;                 // of a cell "8114/19392/19465", from 1; 0: all of it
};

// Which rows are meant: all that is said of them must hold.
struct RowChoice {
  std::string head;
  std::vector<std::string> equals;  // one of them
  std::optional<Pattern> matches;
  std::string zero;     // a column that is 0
  std::string repeats;  // a column with the text of the row above
};

// Rows that are not ops like the others.
struct TableRow : RowChoice {
  enum class Is : std::uint8_t {
    skipped,  // none at all
    unknown,  // ops whose numbers say nothing: they ran elsewhere, or were not estimated
    fused,    // ops whose cost is in the row above
    counted,  // ops like the others, which a note counts
    total,    // the sum of the rows above, which is tried
  };

  Is is = Is::skipped;
  std::string says;      // in the note that counts them
  double tolerance = 0;  // of a total: by row, in the column's unit
};

// Hardware that a value of a column stands for.
struct TableEngine : RowChoice {
  Engine engine = Engine::compute;
};

// A line outside the rows; in JSON a value outside the lists of rows: "results/latency (ms): 3.90".
struct TableLine {
  enum class Is : std::uint8_t {
    tables,         // the name of the tables that follow
    skipped,        // tables that follow are none of the network's
    remark,         // what a note must say of the file
    runs,           // how many inferences the numbers are of
    total,          // time of all ops in an inference, which is tried
    total_of_runs,  // the same of all inferences
    latency,        // of inferences, or a statistic of it
    number,         // any other number of the run
  };

  std::optional<Pattern> matches;  // its group is the number or the name
  Is is = Is::number;
  std::string name, says;
  TableUnit unit = TableUnit::count;
  Statistic statistic = Statistic::none;
  double tolerance = 0;  // of a total: by row, in the line's unit
};

enum class TableLayout : std::uint8_t {
  csv,        // fields between delimiters, quoted as in RFC 4180
  separated,  // fields between delimiters, never quoted
  left,       // fields begin where their heads begin
  right,      // fields end where their heads end
  json,       // lists of objects
};

struct TableDescription {
  std::string file;  // where it stands
  std::string name, device;
  Origin origin = Origin::measured;
  TableLayout layout = TableLayout::csv;
  char delimiter = ',';
  bool sum_is_inference = false;  // ops run one after the other: an inference takes their sum
  enum class Rows : std::uint8_t {
    layers,
    networks,    // each row is a profile of its own
    inferences,  // each row is an inference, of which nothing else is known
  } rows_are = Rows::layers;
  bool is_warm = false;            // of inferences: the first are left out, or were no slower
  std::string layers_end;          // the file of a network's layers is its name and this
  bool calls_are_of_runs = false;  // calls are of all inferences, of which the least are the number
  enum class Blocks : std::uint8_t {
    tables,  // each header begins a profile
    parts,   // a header below rows goes on with the same one
    last,    // the last table counts
  } blocks = Blocks::tables;
  std::string block = "table";         // what each of several tables of a file is: "request"
  std::vector<std::string> heads;      // of tables without a header, below their title
  std::string title;                   // stands in the line above the header of a table that counts
  std::string refuses;                 // files of it cannot be read; why, and what to do
  std::optional<Pattern> line_begins;  // what a log writes before each line
  std::vector<Pattern> marks;          // stand in the first bytes
  std::vector<std::string> blanks;     // cells that are not known: "N/A"
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
  std::vector<TableEngine> engines;
  std::vector<TableLine> lines;
  std::vector<std::string> notes;  // what the numbers are, for who reads them

  bool is_text() const { return layout != TableLayout::json; }
};

// `file` is named in errors.
Result<TableDescription> parse_description(std::string_view toml, const std::string& file);

// Those of tables/, in the order of their files. Parsing them takes longer than reading a small
// file: whoever has a text that most likely is no table asks the next one first.
const std::vector<TableDescription>& builtin_descriptions();

// False where no description of tables/ fits: the text lacks a head or a mark of each.
bool may_fit_builtin_description(std::string_view text);

// What a text must hold to fit: the heads that no version lacks, and the marks that are plain text.
std::span<const EmbeddedToml> builtin_description_files();
std::vector<std::string_view> texts_asked_for(const EmbeddedToml& file);

// Files as they are, of folders each .toml file; a usage error where a folder has none.
Result<std::vector<std::string>> description_files(const std::vector<std::string>& paths);
// A usage error for a file that is not a description; in folders each .toml file is one.
Result<std::vector<TableDescription>> read_descriptions(const std::vector<std::string>& paths);

// As `is` and `unit` have them in a description.
std::string_view word_of(TableColumn::Is is);
std::string_view word_of(TableUnit unit);
std::string_view word_of(TableLayout layout);

}  // namespace npuscope::tables
