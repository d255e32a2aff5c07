#include "query/errors.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace npuscope::query {

Words words_of(std::string_view sql) {
  Words words;
  for (auto at = sql.begin(); at != sql.end();) {
    const auto begin = std::find_if(at, sql.end(), is_of_word);
    at = std::find_if_not(begin, sql.end(), is_of_word);
    if (begin != at) words.insert(in_small_letters({begin, at}));
  }
  return words;
}

namespace {

std::string joined(const auto& list, auto text_of) {
  std::string text;
  for (const auto& entry : list) text += (text.empty() ? "" : ", ") + text_of(entry);
  return text;
}

std::string columns_text(std::string_view sql, const Catalogue& catalogue) {
  const Words words = words_of(sql);
  std::string text;
  for (const TableInfo& table : catalogue.tables) {
    if (!words.contains(table.name)) continue;
    text += fmt::format("; {} has {}", table.name,
                        joined(table.columns, [](const ColumnInfo& c) { return c.name; }));
  }
  return text.empty() ? "; a text stands in single quotes" : text;
}

// "line 2, column 14"
std::string place_text(std::string_view sql, int offset) {
  const std::string_view before = sql.substr(0, std::min(std::size_t(offset), sql.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t begin = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
  return fmt::format("line {}, column {}", line, before.size() - begin + 1);
}

std::string advice_for(std::string_view message, std::string_view sql, const Catalogue& catalogue) {
  if (message.find("no such column") != message.npos) return columns_text(sql, catalogue);
  if (message.find("no such table") != message.npos) {
    return "; the tables and views are " +
           joined(catalogue.tables, [](const TableInfo& table) { return table.name; });
  }
  if (message.find("no such function") != message.npos ||
      message.find("wrong number of arguments") != message.npos) {
    return "; beside SQLite's own there are " +
           joined(functions(), [](const FunctionInfo& function) { return function.call; });
  }
  if (message.find("regexp") != message.npos || message.find("percentile") != message.npos) {
    return "";  // the functions' own say what to do
  }
  if (message.find("too big") != message.npos) return "; a value has at most 64 MiB";
  return fmt::format("; {} lists tables and columns", catalogue.listing);
}

}  // namespace

const Catalogue& profile_catalogue() {
  static const Catalogue catalogue{schema(), "npuscope query --schema",
                                   "npuscope convert FILE -o copy.db"};
  return catalogue;
}

Error only_reads(const Catalogue& catalogue) {
  return {ErrorKind::usage,
          fmt::format("SQL: only SELECT, WITH, VALUES, EXPLAIN and PRAGMA table_info are allowed, "
                      "a query changes nothing; to work on a copy, write one: {}",
                      catalogue.copying)};
}

Error out_of_time(const Limits& limits) {
  return {ErrorKind::usage,
          fmt::format("SQL: stopped after {:g} s; ask for less, or allow more with --timeout",
                      double(limits.time.count()) / 1e3)};
}

Error sql_error(sqlite3* database, std::string_view sql, const Limits& limits,
                const Catalogue& catalogue) {
  const std::string message = sqlite3_errmsg(database);
  switch (sqlite3_errcode(database)) {
    case SQLITE_AUTH: return only_reads(catalogue);
    case SQLITE_INTERRUPT: return out_of_time(limits);
    case SQLITE_NOMEM:
      return {ErrorKind::usage,
              fmt::format("SQL: the query needs more than the {} MiB that it may take; ask for "
                          "less, or allow more with --memory",
                          limits.memory_bytes >> 20)};
    // Of the file, not of the question.
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {
          ErrorKind::input,
          fmt::format("SQL: {}; its file could not be read on; see that nothing else changes it, "
                      "and ask again",
                      message)};
    default: break;
  }
  if (message.find("may not be modified") != message.npos ||
      message.find("not authorized") != message.npos) {
    return only_reads(catalogue);
  }
  // Of sum() alone; views use it too, on times of a file that may be absurd.
  if (message == "integer overflow") {
    return {
        ErrorKind::usage,
        "SQL: a sum of whole numbers exceeds 64 bits, times in the file are that long; ask for "
        "total(x) instead of sum(x), of a view's table instead of the view, or leave those rows "
        "out with WHERE"};
  }
  const int offset = sqlite3_error_offset(database);
  return {ErrorKind::usage,
          fmt::format("SQL{}: {}{}", offset >= 0 ? ", " + place_text(sql, offset) : "", message,
                      advice_for(message, sql, catalogue))};
}

}  // namespace npuscope::query
