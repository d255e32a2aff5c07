// One table of a file as a profile: its header says where the columns of the description are, each
// row becomes an op with its numbers and, where the table has starts, a span.
//
//   if (auto places = places_in(description, header)) TableProfile table(description, *places,
//   losses); table.take(row, offset); table.take_line("Timings (microseconds): count=50 avg=2525",
//   offset); Profile profile = table.finish();
#pragma once

#include <xxhash.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/text.hpp"
#include "formats/tables/description.hpp"
#include "formats/tables/records.hpp"

namespace npuscope::tables {

// Of each column of the description in a header, no_place for one that it lacks; none where the
// record is not such a header.
constexpr std::size_t no_place = ~std::size_t{0};
std::optional<std::vector<std::size_t>> places_in(const TableDescription& description,
                                                  const Fields& fields);

class TableProfile {
 public:
  // Of a file with lines only: no places.
  TableProfile(const TableDescription& description, std::vector<std::size_t> places,
               CountedNotes& losses);

  // False for a line that is not a row.
  bool take(const Fields& fields, std::uint64_t offset);
  void take_line(std::string_view line);
  // Another header below: the rows that follow are of the same network.
  void go_on(std::vector<std::size_t> places);

  std::size_t ops() const { return profile_.ops.size(); }
  bool is_empty() const {
    return profile_.ops.empty() && profile_.measures.empty() && profile_.spans.size() == 0;
  }
  bool has_rows() const {
    return description_.rows_are == TableDescription::Rows::layers ? ops() > 0 : !is_empty();
  }
  // A hash of them, to know a table that repeats another; 0: of a timeline.
  std::uint64_t rows() const { return rows_; }
  // "'realTime (ms)' is '0,116'", the first such cell where no cell is a number; else empty.
  std::string why_no_number() const { return profile_.measures.empty() ? not_a_number_ : ""; }
  Profile finish();

 private:
  // Where the columns of a choice are; no_place where it names none.
  struct ChoicePlaces {
    std::size_t head = no_place, zero = no_place, repeats = no_place;
    std::string above;  // the cell of `repeats` in the row above
  };
  using OpTexts = std::array<StringId, 6>;
  struct OpTextsHash {
    std::size_t operator()(const OpTexts& texts) const {
      return XXH3_64bits(texts.data(), sizeof texts);
    }
  };
  // Those of a row that are taken.
  enum class Numbers : std::uint8_t { none, no_times, all };
  struct Total {
    const TableLine* line = nullptr;
    double value = 0;
  };
  struct Interval {
    std::int64_t start = 0, duration = 0;
  };
  struct NumberOfRun {
    std::string_view name;
    TableUnit unit = TableUnit::count;
    Statistic statistic = Statistic::none;
    Origin origin = Origin::measured;
    bool is_latency = false;
  };
  static NumberOfRun of_column(const TableColumn& column) {
    const bool is_latency = column.is == TableColumn::Is::latency;
    return {column.name, column.unit, column.statistic, column.origin, is_latency};
  }

  ClockId clock(std::string_view name, ClockKind kind, double rate);
  ClockId clock_of(TableUnit unit);
  // What of a cell is the column's.
  std::string_view field(std::size_t column, const Fields& fields) const {
    const std::size_t place = places_[column];
    const std::string_view text =
        place < fields.size() ? trimmed(fields[place]) : std::string_view();
    return is_plain_[column] ? text : part_of(text, column);
  }
  std::string_view part_of(std::string_view text, std::size_t column) const;
  std::size_t place_of(std::string_view head) const;
  void find_places();
  static bool holds(const RowChoice& chosen, const ChoicePlaces& places, const Fields& fields);
  bool take_special(const Fields& fields, std::uint64_t offset, bool& is_row);
  void add_network(const Fields& fields, std::uint64_t offset);
  void add(const Fields& fields, std::uint64_t offset, Numbers numbers);
  bool add_op(const Fields& fields, std::uint64_t offset);
  std::uint32_t known_op(const Op& op);
  bool add_span(const Fields& fields, std::uint64_t offset);
  void add_inference(const Fields& fields, std::uint64_t offset);
  std::optional<Interval> interval_of(const Fields& fields, std::uint64_t offset);
  UnitId unit_of(const Fields& fields, Engine engine);
  void add_numbers(const Fields& fields, std::uint64_t offset);
  void add_sizes(const Fields& fields, std::uint64_t offset);
  void add_number(std::size_t column, double value);
  void add_number_of_run(const NumberOfRun& of, double value,
                         std::uint32_t instance = every_instance);
  double calls_in(const Fields& fields) const;
  // The number of a cell, with a note where it has none or one that cannot be.
  std::optional<double> number_of(std::size_t column, const Fields& fields, std::uint64_t offset);
  void check(const std::string& name, double sum, double total, double allowed);
  void check_total(const TableRow& row, const Fields& fields);
  void divide_by_runs();
  void rank_by_time();
  void add_sum();
  StringId intern(std::string_view text);
  Engine engine_of(const Fields& fields) const;

  const TableDescription& description_;
  std::vector<std::size_t> places_;
  std::vector<ChoicePlaces> rows_at_, engines_at_;
  // By what they are, those that the header has.
  std::array<std::vector<std::size_t>, std::size_t(TableColumn::Is::key) + 1> columns_of_;
  std::vector<char> is_plain_;                // by column: its cells are taken whole
  std::vector<bool> has_gaps_;                // by column: some rows have no number
  std::string not_a_number_;                  // the first cell that should be one
  std::vector<std::optional<Measure>> made_;  // by column, its first number
  std::string unit_;                          // of the row
  CountedNotes& losses_;
  Profile profile_;
  std::uint64_t rows_ = 0;
  std::map<std::size_t, double> sums_;  // by column, of times
  std::vector<std::size_t> per_run_;    // measures that are of all runs until they are divided
  std::vector<Total> totals_;
  std::unordered_map<OpTexts, OpId, OpTextsHash> op_of_;  // of a timeline
  std::vector<OpId> last_op_of_;                          // by name, which most rows tell apart
  std::vector<UnitId> unit_of_;                           // by name
  std::uint32_t op_ = 0;                                  // of the row
  double least_calls_ = 0;                                // of a row
  std::optional<double> runs_;                            // that a line states
  bool is_part_ = false;  // ops of the network are not in its numbers
  bool has_starts_ = false;
};

}  // namespace npuscope::tables
