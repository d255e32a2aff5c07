#include "formats/tables/read_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "ingest/delimited.hpp"

namespace npuscope::tables {
namespace {

using Fields = std::vector<std::string>;
constexpr std::size_t max_tables = 64;  // of a file, a profile each
constexpr std::size_t no_place = ~std::size_t{0};

// Heads are compared as people read them: a line end in a quoted head is a blank.
std::string plain_head(std::string_view text) {
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), '\n', ' ');
  return std::string(trimmed(plain));
}

// Of each column of the description in a header, no_place for one that it lacks; none where the
// record is no such header.
std::optional<std::vector<std::size_t>> places_in(const TableDescription& description,
                                                  const Fields& fields) {
  const TableColumn& first = description.columns.front();
  const auto is_first = [&](const std::string& field) {
    return field.find(first.head) != field.npos;
  };
  if (!first.optional && std::none_of(fields.begin(), fields.end(), is_first)) return std::nullopt;
  std::vector<std::string> heads;
  for (const std::string& field : fields) heads.push_back(plain_head(field));
  std::vector<std::size_t> places;
  std::vector<bool> is_taken(heads.size(), false);
  for (const TableColumn& column : description.columns) {
    std::size_t place = 0;  // of two alike the next
    while (place < heads.size() && (is_taken[place] || heads[place] != column.head)) ++place;
    if (place == heads.size() && !column.optional) return std::nullopt;
    if (place < heads.size()) is_taken[place] = true;
    places.push_back(place < heads.size() ? place : no_place);
  }
  return places;
}

// "47.59%" too; none for "N/A" and the like.
std::optional<double> number_in(std::string_view text) {
  text = trimmed(text);
  if (text.ends_with('%')) text = trimmed(text.substr(0, text.size() - 1));
  const auto number = parse_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

double ticks_in(TableUnit unit) {
  switch (unit) {
    case TableUnit::microseconds: return 1e3;
    case TableUnit::milliseconds: return 1e6;
    case TableUnit::seconds: return 1e9;
    default: return 1;
  }
}

NumberQuantity quantity_of(TableUnit unit) {
  switch (unit) {
    case TableUnit::bytes: return NumberQuantity::bytes;
    case TableUnit::macs: return NumberQuantity::macs;
    case TableUnit::percent: return NumberQuantity::share;
    default: return NumberQuantity::count;
  }
}

// One table of the file.
class TableProfile {
 public:
  TableProfile(const TableDescription& description, std::vector<std::size_t> places,
               CountedNotes& losses)
      : description_(description), places_(std::move(places)), losses_(losses) {
    profile_.provenance.format = description.name;
    profile_.provenance.device = description.device;
    profile_.provenance.times = description.origin;
    const bool counts_cycles =
        std::any_of(description.columns.begin(), description.columns.end(), [](const auto& column) {
          return column.is == TableColumn::Is::time && column.unit == TableUnit::cycles;
        });
    profile_.base_clock =
        counts_cycles ? clock("cycles", ClockKind::unit_cycles, 0) : nanoseconds();
    for (const std::string& note : description.notes) {
      profile_.notes.push_back({Severity::info, "", 0, note, 1});
    }
  }

  bool is_row_of_its_own(const Fields& fields, std::uint64_t offset) {
    for (const TableRow& row : description_.rows) {
      const std::string_view text = field_named(row.head, fields);
      if (std::find(row.equals.begin(), row.equals.end(), text) == row.equals.end()) continue;
      if (row.is == TableRow::Is::unknown) {
        is_part_ = true;
        add(fields, offset, false);
      } else if (row.is == TableRow::Is::total) {
        check_total(row, fields);
      }
      if (!row.says.empty()) losses_.add(severity_of(row.is), offset, row.says);
      return true;
    }
    return false;
  }

  void take(const Fields& fields, std::uint64_t offset) {
    if (is_row_of_its_own(fields, offset)) return;
    add(fields, offset, true);
  }

  bool is_empty() const { return profile_.ops.empty(); }
  bool has_a_sum() const { return description_.sum_is_inference && !is_part_; }
  const std::string& rows() const { return rows_; }
  Profile finish() {
    if (has_a_sum()) add_sum();
    return std::move(profile_);
  }

 private:
  static Severity severity_of(TableRow::Is is) {
    return is == TableRow::Is::unknown ? Severity::warning : Severity::info;
  }

  ClockId clock(std::string_view name, ClockKind kind, double rate) {
    const StringId id = profile_.strings.intern(name);
    for (std::size_t i = 0; i < profile_.clocks.size(); ++i) {
      if (profile_.clocks[i].name == id) return ClockId(i);
    }
    profile_.clocks.push_back({id, kind, Hertz{rate}, false, 0});
    return ClockId(profile_.clocks.size() - 1);
  }
  ClockId nanoseconds() { return clock("nanoseconds", ClockKind::wall, 1e9); }

  std::string_view field(std::size_t column, const Fields& fields) const {
    const std::size_t place = places_[column];
    return place < fields.size() ? trimmed(fields[place]) : std::string_view();
  }
  std::string_view field_named(std::string_view head, const Fields& fields) const {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (description_.columns[i].head == head) return field(i, fields);
    }
    return {};
  }

  void add(const Fields& fields, std::uint64_t offset, bool has_numbers) {
    Op op;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const TableColumn& column = description_.columns[i];
      const std::string_view text = field(i, fields);
      if (text.empty()) continue;
      switch (column.is) {
        case TableColumn::Is::op:
          op.name = profile_.strings.intern(column.prefix + valid_utf8(text));
          break;
        case TableColumn::Is::node: op.node = intern(text); break;
        case TableColumn::Is::kind: op.kind = intern(text); break;
        case TableColumn::Is::node_kind: op.node_kind = intern(text); break;
        default: break;
      }
    }
    if (op.name == StringId::empty) {
      losses_.add(Severity::warning, offset, "rows without the name of an op; left out");
      return;
    }
    if (op.node == StringId::empty) op.node = op.name;
    op.engine = engine_of(fields);
    op.position = std::uint32_t(profile_.ops.size());
    profile_.ops.push_back(op);
    for (const std::string& text : fields) rows_.append(text).push_back('\0');
    rows_ += '\n';
    if (has_numbers) add_numbers(fields, offset);
  }

  void add_numbers(const Fields& fields, std::uint64_t offset) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const TableColumn& column = description_.columns[i];
      if (column.is != TableColumn::Is::time && column.is != TableColumn::Is::number) continue;
      const std::string_view text = field(i, fields);
      const auto number = number_in(text);
      if (!number) {
        if (!text.empty() && places_[i] != no_place) {
          losses_.add(Severity::warning, offset,
                      fmt::format("'{}' is not a number in some rows; left out", column.head));
        }
        continue;
      }
      constexpr double most_ticks = 1e18;
      const double ticks = is_time(column.unit) ? *number * ticks_in(column.unit) : 0;
      if (!(ticks >= 0 && ticks <= most_ticks)) {
        losses_.add(
            Severity::warning, offset,
            fmt::format("'{}' is negative or impossibly long in some rows; left out", column.head));
        continue;
      }
      if (column.is == TableColumn::Is::time) sums_[i] += *number;
      add_number(column, *number);
    }
  }

  void add_number(const TableColumn& column, double value) {
    const auto op = std::uint32_t(profile_.ops.size() - 1);
    if (!is_time(column.unit)) {
      profile_.add_measure(Measure::Subject::op, op,
                           NamedNumber{column.name, quantity_of(column.unit)}, column.origin, {},
                           value);
      return;
    }
    const bool is_cycles = column.unit == TableUnit::cycles;
    const ClockId of = is_cycles ? clock("cycles", ClockKind::unit_cycles, 0) : nanoseconds();
    const auto role =
        column.is == TableColumn::Is::time ? NumberRole::node_cycles : NumberRole::none;
    profile_.add_measure(Measure::Subject::op, op,
                         NamedNumber{column.name, MeasureKind::work, role}, column.origin, of,
                         value * ticks_in(column.unit));
  }

  void add_sum() {
    for (const auto& [place, sum] : sums_) {
      const TableUnit unit = description_.columns[place].unit;
      profile_.add_measure(
          Measure::Subject::profile, 0,
          NamedNumber{"sum of the ops", MeasureKind::wall, NumberRole::graph_wall}, Origin::derived,
          unit == TableUnit::cycles ? profile_.base_clock : nanoseconds(), sum * ticks_in(unit));
    }
  }

  void check_total(const TableRow& row, const Fields& fields) {
    for (const auto& [place, sum] : sums_) {
      const auto total = number_in(field(place, fields));
      if (!total) continue;
      const double allowed = row.tolerance * double(profile_.ops.size()) + 1e-9 * std::abs(sum);
      const bool holds = std::abs(*total - sum) <= allowed;
      profile_.checks.push_back(
          {fmt::format("sum of '{}' = the total of the file", description_.columns[place].head),
           holds ? Check::Outcome::passed : Check::Outcome::failed,
           fmt::format("{:.10g} and {:.10g}", sum, *total)});
    }
  }

  StringId intern(std::string_view text) { return profile_.strings.intern(valid_utf8(text)); }
  Engine engine_of(const Fields& fields) const {
    for (const TableEngine& each : description_.engines) {
      const std::string_view text = field_named(each.head, fields);
      if (std::find(each.equals.begin(), each.equals.end(), text) != each.equals.end()) {
        return each.engine;
      }
    }
    return Engine::none;
  }

  const TableDescription& description_;
  std::vector<std::size_t> places_;
  CountedNotes& losses_;
  Profile profile_;
  std::string rows_;  // as the file has them, to know a table that repeats another
  std::map<std::size_t, double> sums_;  // by column, of times
  bool is_part_ = false;                // ops of the network are not in its numbers
};

}  // namespace

std::optional<std::size_t> recognise_table(std::string_view head) {
  constexpr int max_records = 64;  // a preamble may stand above
  const auto& all = builtin_descriptions();
  for (std::size_t place = 0; place < all.size(); ++place) {
    if (head.find(all[place].columns.front().head) == head.npos) continue;
    auto source = open_byte_source(head, "");
    if (!source) continue;
    CountedNotes losses;
    LineReader lines(**source, losses);
    DelimitedReader records(lines, losses, all[place].delimiter);
    for (int i = 0; i < max_records && records.next(); ++i) {
      if (places_in(all[place], records.fields())) return place;
    }
  }
  return std::nullopt;
}

Result<std::vector<Profile>> read_table(ByteSource& source, const TableDescription& description) {
  CountedNotes losses(source.name());
  LineReader lines(source, losses);
  DelimitedReader records(lines, losses, description.delimiter);
  std::vector<TableProfile> read;
  bool goes_on = false;  // rows belong to the last table
  while (records.next()) {
    const Fields& fields = records.fields();
    if (auto places = places_in(description, fields)) {
      goes_on = read.size() < max_tables;
      if (goes_on) {
        read.emplace_back(description, std::move(*places), losses);
      } else {
        losses.add(Severity::warning, records.offset(), "tables after the first 64; left out");
      }
    } else if (goes_on && std::ranges::all_of(
                              fields, [](const auto& field) { return trimmed(field).empty(); })) {
      continue;
    } else if (goes_on) {
      read.back().take(fields, records.offset());
    }
  }
  std::vector<Profile> profiles;
  std::vector<std::string> seen;
  for (TableProfile& table : read) {
    if (table.is_empty()) continue;
    if (std::find(seen.begin(), seen.end(), table.rows()) != seen.end()) {
      losses.add(Severity::info, 0, "tables that repeat another row by row; left out");
      continue;
    }
    seen.push_back(table.rows());
    profiles.push_back(table.finish());
  }
  if (profiles.empty()) {
    if (lines.error()) return tl::unexpected(*lines.error());
    return input_error("{}: is a table of {}, but has no row below its header; write it again",
                       source.name(), description.name);
  }
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    Profile& profile = profiles[i];
    profile.provenance.files = {source.name()};
    if (profiles.size() > 1) {
      profile.provenance.graph = fmt::format("{} {}", description.block, i + 1);
    }
    losses.append_to(profile.notes);
  }
  return profiles;
}

}  // namespace npuscope::tables
