#include "fleet/questions/choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/near_names.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "fleet/schema.hpp"
#include "fleet/tags.hpp"

namespace npuscope::fleet {
namespace {

// Names in an expression, those in quotes of texts left out.
std::set<std::string> names_in(std::string_view sql) {
  std::set<std::string> names;
  std::string name;
  bool in_text = false;
  for (const char c : std::string(sql) + " ") {
    if (c == '\'') in_text = !in_text;
    if (!in_text && (is_letter(c) || is_digit(c) || c == '_')) {
      name += c;
      continue;
    }
    if (!name.empty()) names.insert(std::move(name));
    name.clear();
  }
  return names;
}

std::vector<std::string> columns_of_runs() {
  std::vector<std::string> names;
  for (const Column& column : schema_of("runs").columns) names.emplace_back(column.name);
  return names;
}

std::string pivot_of(const std::vector<TagKey>& used) {
  std::string columns;
  for (const TagKey& tag : used) {
    columns += fmt::format(", max(CASE WHEN key = '{}' THEN {} END) AS \"{}\"", tag.key,
                           tag.is_number ? "number" : "value", tag.key);
  }
  return fmt::format("LEFT JOIN (SELECT run AS id{} FROM tags GROUP BY run) AS tagged USING (id)",
                     columns);
}

// What the user wrote, on lines of its own, so that a comment in it ends there.
std::string in_lines(const std::string& where) { return fmt::format("(\n{}\n)", where); }

// "SQL, line 2, column 1: no such column: x; runs has ..." without place and advice, which are of
// the statement that the expression became a part of.
std::string what_is_wrong(const std::string& message) {
  const std::size_t place = message.find(": ");
  const std::size_t begin = place == message.npos ? 0 : place + 2;
  return message.substr(begin, message.find(';', begin) - begin);
}

tl::unexpected<Error> unknown_name(const std::string& name, const std::vector<std::string>& all) {
  return usage_error("--by {}: neither a column of runs nor a tag{}; there are {}", name,
                     did_you_mean({all.begin(), all.end()}, name), fmt::join(all, ", "));
}

}  // namespace

Result<std::vector<TagKey>> tag_keys(Store& store) {
  TRY_AS(rows, answer_of(store, 4,
                         "SELECT key, count(*), count(DISTINCT value), count(number) FROM "
                         "tags GROUP BY key ORDER BY key"));
  std::vector<TagKey> keys;
  for (const AnswerRow& row : *rows) {
    const auto runs = std::uint64_t(integer_at(row, 1)),
               numbers = std::uint64_t(integer_at(row, 3));
    // Another program may have written the file.
    if (!is_name(text_at(row, 0))) continue;
    keys.push_back(
        {text_at(row, 0), runs, std::uint64_t(integer_at(row, 2)), runs == numbers, numbers > 0});
  }
  return keys;
}

// Quoted: a tag may be called like a word of SQL.
std::string ChosenRuns::groups() const {
  std::string names;
  for (const std::string& name : by_)
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", name);
  return names;
}

Result<ChosenRuns> ChosenRuns::of(Store& store, const Choice& choice, DamagedRuns damaged) {
  TRY_AS(keys, tag_keys(store));
  std::vector<std::string> known = columns_of_runs();
  const std::size_t columns = known.size();
  for (const TagKey& tag : *keys) known.push_back(tag.key);
  ChosenRuns chosen;
  std::set<std::string> named = names_in(choice.where);
  for (std::string name : choice.by) {
    if (name == "run") name = "id";
    if (std::find(known.begin(), known.end(), name) == known.end())
      return unknown_name(name, known);
    named.insert(name);
    chosen.by_.push_back(name == "id" ? "run" : name);
  }
  std::vector<TagKey> used;
  for (const TagKey& tag : *keys) {
    if (!named.contains(tag.key)) continue;
    used.push_back(tag);
    if (tag.has_numbers && !tag.is_number) {
      chosen.remarks_.push_back(
          fmt::format("tag {}: some values are not numbers, so all are compared as text", tag.key));
    }
  }
  std::string select;
  for (std::size_t i = 1; i < columns; ++i) select += ", " + known[i];
  for (const TagKey& tag : used) select += fmt::format(", \"{}\"", tag.key);
  const std::string pivot = used.empty() ? "" : " " + pivot_of(used);
  const std::string from = "runs" + pivot;
  const std::string where = choice.where.empty() ? "" : " WHERE " + in_lines(choice.where);
  const auto counts =
      row_of(store, 2,
             fmt::format("SELECT count(*), sum(damaged) FROM (SELECT damaged FROM {}{}) AS chosen",
                         from, where));
  if (!counts) {
    if (choice.where.empty() || counts.error().kind != ErrorKind::usage) {
      return tl::unexpected(counts.error());
    }
    return usage_error("--where {}: {}; columns of runs and tags: {}", choice.where,
                       what_is_wrong(counts.error().message), fmt::join(known, ", "));
  }
  const auto all = std::uint64_t(integer_at(*counts, 0));
  const auto lost = std::uint64_t(integer_at(*counts, 1));
  const bool leaves_out = damaged == DamagedRuns::left_out;
  chosen.damaged_ = leaves_out ? lost : 0;
  chosen.runs_ = all - chosen.damaged_;
  if (chosen.damaged_ > 0) {
    chosen.remarks_.push_back(
        fmt::format("damaged runs left out: {}; fleet findings counts them", thousands(lost)));
  }
  const std::string whole =
      leaves_out ? (where.empty() ? " WHERE " : " AND ") + std::string("damaged = 0") : "";
  chosen.join_ = store.fact_join();
  chosen.is_part_ = !choice.where.empty();
  chosen.sql_ =
      fmt::format("(SELECT id AS run{} FROM {}{}{}) AS chosen", select, from, where, whole);
  chosen.joined_sql_ = fmt::format("(SELECT {}{} FROM {}{}{}{})", chosen.join_.selected_key, select,
                                   chosen.join_.runs, pivot, where, whole);
  return chosen;
}

std::string ChosenRuns::facts(std::string_view table, std::string_view condition) const {
  std::string conditions(condition);
  if (join_.narrows && is_part_) {
    conditions +=
        fmt::format("{}run IN (SELECT run FROM {})", conditions.empty() ? "" : " AND ", sql_);
  }
  return fmt::format("{}{} JOIN {} AS chosen USING ({}){}{}", table, join_.facts_suffix,
                     joined_sql_, join_.key, conditions.empty() ? "" : " " + join_.condition + " ",
                     conditions);
}

const char* name_of(CommonClock::Unit unit) {
  constexpr const char* names[] = {"cycles", "seconds", "ticks"};
  return names[std::size_t(unit)];
}

std::string CommonClock::value_of(const std::string& ticks) const {
  return unit == Unit::seconds ? ticks + " / hertz" : ticks;
}

Result<CommonClock> common_clock(Store& store, const ChosenRuns& runs) {
  const auto row =
      row_of(store, 7,
             fmt::format("SELECT count(*), count(hertz), sum(CASE WHEN clock_kind = 'unit_cycles' "
                         "THEN 1 ELSE 0 END), count(DISTINCT clock), count(clock), "
                         "count(DISTINCT hertz), max(hertz) FROM {}",
                         runs.sql()));
  if (!row) return tl::unexpected(row.error());
  // Runs without any times have no clock, and no part in this.
  const std::int64_t timed = integer_at(*row, 4);
  if (integer_at(*row, 2) == timed) return CommonClock{CommonClock::Unit::cycles};
  if (integer_at(*row, 1) == timed) {
    return CommonClock{CommonClock::Unit::seconds,
                       integer_at(*row, 5) == 1 ? number_at(*row, 6) : std::nullopt};
  }
  if (integer_at(*row, 3) == 1 && integer_at(*row, 1) == 0) {
    return CommonClock{CommonClock::Unit::ticks};
  }
  return usage_error(
      "the runs count times by {} clocks, of which some have no known rate, so they cannot be "
      "compared; choose some with --where \"clock = '...'\", fleet ls --by clock lists them",
      integer_at(*row, 3));
}

}  // namespace npuscope::fleet
