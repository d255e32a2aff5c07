#include "report/fleet/fleet_sections.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/text.hpp"
#include "fleet/tags.hpp"

namespace npuscope::report {

Section fleet_head(const FleetHead& head, std::uint64_t runs,
                   const std::vector<std::string>& remarks) {
  Section section{.key = "fleet"};
  section.facts = {{{"store", "store"}, head.store},
                   {{"where", "where"}, head.where.empty() ? Value() : Value(head.where)},
                   {{"runs", "runs", Format::count}, runs}};
  section.remarks = remarks;
  return section;
}

// A tag's number is a real one; most are whole.
Value cell_of(const fleet::Value& value) {
  struct Cell {
    Value operator()(std::monostate) const { return {}; }
    Value operator()(std::int64_t number) const { return number; }
    Value operator()(double number) const {
      constexpr double exact = 9e15;
      const bool is_whole = std::floor(number) == number && std::abs(number) < exact;
      return is_whole ? Value(std::int64_t(number)) : Value(number);
    }
    Value operator()(const std::string& text) const { return text; }
  };
  return std::visit(Cell{}, value);
}

// A tag may be called like a column of the page.
void add_group_fields(Table& table, const std::vector<std::string>& by) {
  for (const std::string& name : by) table.fields.push_back({"by_" + name, name, Format::name});
}

// As text, so that a build is "1200" and not "1,200"; what is not known is a word.
std::vector<Value> group_cells(const std::vector<fleet::Value>& by) {
  std::vector<Value> cells;
  for (const fleet::Value& value : by) {
    const Value cell = cell_of(value);
    if (const auto* whole = std::get_if<std::int64_t>(&cell.held())) {
      cells.emplace_back(fmt::format("{}", *whole));
    } else if (const auto* real = std::get_if<double>(&cell.held())) {
      cells.emplace_back(fmt::format("{}", *real));
    } else {
      cells.push_back(cell.known() ? cell : Value("(none)"));
    }
  }
  return cells;
}

std::string by_text(const std::vector<std::string>& by) {
  return by.empty() ? "" : fmt::format(" by {}", fmt::join(by, ", "));
}

std::string how_to_open(const fleet::MedianRun& run, const std::vector<fleet::Value>& by) {
  std::string files, of;
  for (std::string_view rest = run.files; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    files += " " + shell_word(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (const Value& cell : group_cells(by)) {
    of += (of.empty() ? "" : ", ") + std::get<std::string>(cell.held());
  }
  return fmt::format("the median run{}: npuscope show{}", of.empty() ? "" : " of " + of, files);
}

std::string first_file(const fleet::MedianRun& run) {
  return run.files.substr(0, run.files.find('\n'));
}

Format format_of(fleet::CommonClock::Unit unit) {
  return unit == fleet::CommonClock::Unit::seconds ? Format::seconds : Format::number;
}

Value time_value(const std::optional<std::int64_t>& seconds) {
  return seconds ? Value(fleet::time_text(*seconds)) : Value();
}

}  // namespace npuscope::report
