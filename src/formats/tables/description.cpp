#include "formats/tables/description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "base/has_text.hpp"
#include "base/toml_reader.hpp"
#include "base/try.hpp"
#include "formats/tables/builtin_tables.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::tables {
namespace {

template <class Value, std::size_t Count>
using Words = std::array<std::pair<std::string_view, Value>, Count>;

constexpr Words<TableUnit, 12> unit_words{{{"cycles", TableUnit::cycles},
                                           {"ns", TableUnit::nanoseconds},
                                           {"us", TableUnit::microseconds},
                                           {"ms", TableUnit::milliseconds},
                                           {"s", TableUnit::seconds},
                                           {"bytes", TableUnit::bytes},
                                           {"KiB", TableUnit::kibibytes},
                                           {"count", TableUnit::count},
                                           {"macs", TableUnit::macs},
                                           {"percent", TableUnit::percent},
                                           {"Hz", TableUnit::hertz},
                                           {"1/s", TableUnit::per_second}}};
constexpr Words<TableColumn::Is, 18> column_words{{{"op", TableColumn::Is::op},
                                                   {"node", TableColumn::Is::node},
                                                   {"kind", TableColumn::Is::kind},
                                                   {"node_kind", TableColumn::Is::node_kind},
                                                   {"types", TableColumn::Is::types},
                                                   {"shape", TableColumn::Is::shape},
                                                   {"unit", TableColumn::Is::unit},
                                                   {"inference", TableColumn::Is::inference},
                                                   {"start", TableColumn::Is::start},
                                                   {"time", TableColumn::Is::time},
                                                   {"latency", TableColumn::Is::latency},
                                                   {"calls", TableColumn::Is::calls},
                                                   {"number", TableColumn::Is::number},
                                                   {"network", TableColumn::Is::network},
                                                   {"device", TableColumn::Is::device},
                                                   {"clock", TableColumn::Is::clock},
                                                   {"setting", TableColumn::Is::setting},
                                                   {"key", TableColumn::Is::key}}};
constexpr Words<TableRow::Is, 5> row_words{{{"skipped", TableRow::Is::skipped},
                                            {"unknown", TableRow::Is::unknown},
                                            {"fused", TableRow::Is::fused},
                                            {"counted", TableRow::Is::counted},
                                            {"total", TableRow::Is::total}}};
constexpr Words<TableLine::Is, 8> line_words{{{"tables", TableLine::Is::tables},
                                              {"skipped", TableLine::Is::skipped},
                                              {"remark", TableLine::Is::remark},
                                              {"runs", TableLine::Is::runs},
                                              {"total", TableLine::Is::total},
                                              {"total_of_runs", TableLine::Is::total_of_runs},
                                              {"latency", TableLine::Is::latency},
                                              {"number", TableLine::Is::number}}};
constexpr Words<TableLayout, 5> layout_words{{{"csv", TableLayout::csv},
                                              {"separated", TableLayout::separated},
                                              {"left", TableLayout::left},
                                              {"right", TableLayout::right},
                                              {"json", TableLayout::json}}};
using Blocks = TableDescription::Blocks;
constexpr Words<Blocks, 3> blocks_words{
    {{"tables", Blocks::tables}, {"parts", Blocks::parts}, {"last", Blocks::last}}};
using Rows = TableDescription::Rows;
constexpr Words<Rows, 3> rows_words{
    {{"layers", Rows::layers}, {"networks", Rows::networks}, {"inferences", Rows::inferences}}};
constexpr Words<bool, 2> calls_words{{{"of an inference", false}, {"of all inferences", true}}};
constexpr Words<Statistic, 9> statistic_words{{{"mean", Statistic::mean},
                                               {"min", Statistic::min},
                                               {"max", Statistic::max},
                                               {"deviation", Statistic::deviation},
                                               {"p50", Statistic::p50},
                                               {"p75", Statistic::p75},
                                               {"p90", Statistic::p90},
                                               {"p95", Statistic::p95},
                                               {"p99", Statistic::p99}}};
constexpr Words<Origin, 3> origin_words{{{"measured", Origin::measured},
                                         {"estimated", Origin::estimated},
                                         {"simulated", Origin::simulated}}};
constexpr Words<Engine, 6> engine_words{{{"compute", Engine::compute},
                                         {"hmx", Engine::hmx},
                                         {"hvx", Engine::hvx},
                                         {"dma", Engine::dma},
                                         {"host", Engine::host},
                                         {"other", Engine::other}}};

template <class Value, std::size_t Count>
std::string_view word_in(const Words<Value, Count>& words, Value value) {
  for (const auto& [word, is] : words) {
    if (is == value) return word;
  }
  return {};
}

TableColumn read_column(TomlReader& keys, Origin origin) {
  TableColumn column;
  column.origin = origin;
  keys.text("head", column.head, Needed::yes);
  keys.word("is", column_words, column.is, Needed::yes);
  keys.word("unit", unit_words, column.unit);
  keys.word("statistic", statistic_words, column.statistic);
  keys.word("origin", origin_words, column.origin);
  keys.text("name", column.name);
  keys.text("prefix", column.prefix);
  keys.yes_or_no("optional", column.optional);
  keys.yes_or_no("zero_is_unknown", column.zero_is_unknown);
  keys.whole("part", column.part, 0, 1'000);
  const bool is_a_time = column.is == TableColumn::Is::time ||
                         column.is == TableColumn::Is::latency ||
                         column.is == TableColumn::Is::start;
  const bool is_latency = column.is == TableColumn::Is::latency;
  if (is_latency && (column.unit == TableUnit::cycles || column.statistic == Statistic::none)) {
    keys.fail({}, "a latency needs a 'statistic' and a 'unit' of time: ns, us, ms, s");
  } else if (!is_latency && column.statistic != Statistic::none) {
    keys.fail("statistic", "'statistic' is of a latency");
  }
  if (is_a_time && !is_time(column.unit)) {
    keys.fail({}, "a {} needs a 'unit' of time: cycles, ns, us, ms, s", word_of(column.is));
  }
  if (column.is == TableColumn::Is::clock && column.unit != TableUnit::hertz) {
    keys.fail({}, "a clock needs the 'unit' Hz");
  }
  if (column.name.empty()) column.name = column.head;
  return column;
}

void read_choice(TomlReader& keys, RowChoice& chosen) {
  keys.text("head", chosen.head, Needed::yes);
  keys.texts("equals", chosen.equals);
  keys.pattern("matches", chosen.matches);
  keys.text("zero", chosen.zero);
  keys.text("repeats", chosen.repeats);
  if (chosen.equals.empty() && !chosen.matches) {
    keys.fail({}, "'equals' or 'matches' is missing");
  }
}

constexpr double max_tolerance = 1e15;

TableRow read_row(TomlReader& keys) {
  TableRow row;
  read_choice(keys, row);
  keys.word("is", row_words, row.is, Needed::yes);
  keys.text("says", row.says);
  keys.number("tolerance", row.tolerance, 0, max_tolerance);
  return row;
}

TableLine read_line(TomlReader& keys) {
  TableLine line;
  keys.pattern("matches", line.matches, Pattern::Groups::kept);
  keys.word("is", line_words, line.is, Needed::yes);
  keys.text("name", line.name);
  keys.text("says", line.says);
  keys.word("unit", unit_words, line.unit);
  keys.word("statistic", statistic_words, line.statistic);
  keys.number("tolerance", line.tolerance, 0, max_tolerance);
  if (!line.matches) {
    keys.fail({}, "'matches' is missing");
    return line;
  }
  const bool is_a_number = line.is > TableLine::Is::remark;
  if (is_a_number && !keys.is_builtin() && !line.matches->has_group()) {
    keys.fail({}, "'matches' needs a group, (...), which the number is");
  } else if (line.is > TableLine::Is::runs && line.is != TableLine::Is::number &&
             !is_time(line.unit)) {
    keys.fail({}, "a {} needs a 'unit' of time: cycles, ns, us, ms, s",
              word_in(line_words, line.is));
  } else if (line.is == TableLine::Is::latency && line.unit == TableUnit::cycles) {
    keys.fail({}, "a latency needs a 'unit' of time: ns, us, ms, s");
  } else if (line.is == TableLine::Is::number && line.name.empty()) {
    keys.fail({}, "'name' is missing");
  }
  return line;
}

Status check(const TableDescription& description, const std::string& file) {
  const auto has = [&](TableColumn::Is is) {
    return std::ranges::find(description.columns, is, &TableColumn::is) !=
           description.columns.end();
  };
  const auto is_column = [&](const std::string& head) {
    return std::ranges::find(description.columns, head, &TableColumn::head) !=
           description.columns.end();
  };
  if (description.rows_are != Rows::networks && has(TableColumn::Is::latency))
    return usage_error("{}: a latency is a column of rows that are networks", file);
  if (description.rows_are != Rows::inferences && description.is_warm)
    return usage_error("{}: 'warm' is of rows that are inferences", file);
  if (description.rows_are == Rows::inferences && has(TableColumn::Is::inference))
    return usage_error("{}: its rows are inferences, so no column is one", file);
  if (description.rows_are == Rows::networks) {
    if (!has(TableColumn::Is::network)) return usage_error("{}: no column is the network", file);
  } else if (description.rows_are == Rows::inferences) {
    if (!has(TableColumn::Is::start)) return usage_error("{}: no column is a start", file);
    if (!has(TableColumn::Is::time)) return usage_error("{}: no column is a time", file);
  } else if (!description.columns.empty()) {
    if (!has(TableColumn::Is::op)) return usage_error("{}: no column is the op", file);
    if (!has(TableColumn::Is::time)) return usage_error("{}: no column is a time", file);
  } else if (description.marks.empty() ||
             (description.lines.empty() && description.refuses.empty())) {
    return usage_error("{}: no column is the op", file);
  }
  if (!description.heads.empty() && (description.title.empty() || description.marks.empty())) {
    return usage_error("{}: 'heads' need the 'title' above the rows, and 'marks'", file);
  }
  if (!description.columns.empty() &&
      std::ranges::all_of(description.columns, &TableColumn::optional)) {
    return usage_error("{}: all columns are optional", file);
  }
  const auto check_choice = [&](const RowChoice& chosen, const char* what) -> Status {
    for (const std::string& head : {chosen.head, chosen.zero, chosen.repeats}) {
      if (head.empty() || is_column(head)) continue;
      return usage_error("{}: the '{}' of {} is not a column", file, head, what);
    }
    return {};
  };
  for (const TableRow& row : description.rows) TRY(check_choice(row, "a row"));
  for (const TableEngine& engine : description.engines) TRY(check_choice(engine, "an engine"));
  return {};
}

}  // namespace

namespace {

Result<TableDescription> description_of(const toml::table& root, const std::string& file,
                                        bool is_builtin) {
  const TomlFile source{file, ErrorKind::usage, is_builtin};
  TomlReader keys(root, source);
  TableDescription made;
  made.file = file;
  std::string delimiter = ",";
  keys.text("name", made.name, Needed::yes);
  keys.text("device", made.device);
  keys.text("delimiter", delimiter);
  keys.word("origin", origin_words, made.origin, Needed::yes);
  keys.texts("notes", made.notes);
  keys.yes_or_no("sum_is_inference", made.sum_is_inference);
  keys.text("block", made.block);
  keys.word("blocks", blocks_words, made.blocks);
  keys.word("layout", layout_words, made.layout);
  keys.word("rows", rows_words, made.rows_are);
  keys.yes_or_no("warm", made.is_warm);
  keys.text("layers_end", made.layers_end);
  keys.word("calls", calls_words, made.calls_are_of_runs);
  keys.text("title", made.title);
  keys.texts("heads", made.heads);
  keys.text("refuses", made.refuses);
  keys.pattern("line_begins", made.line_begins, Pattern::Groups::kept);
  keys.texts("blanks", made.blanks);
  keys.patterns("marks", made.marks);
  keys.tables("column",
              [&](TomlReader& each) { made.columns.push_back(read_column(each, made.origin)); });
  keys.tables("row", [&](TomlReader& each) { made.rows.push_back(read_row(each)); });
  keys.tables("engine", [&](TomlReader& each) {
    TableEngine& engine = made.engines.emplace_back();
    read_choice(each, engine);
    each.word("is", engine_words, engine.engine, Needed::yes);
  });
  keys.tables("line", [&](TomlReader& each) { made.lines.push_back(read_line(each)); });
  if (delimiter.size() != 1) keys.fail("delimiter", "'delimiter' must be one character");
  TRY(keys.finish());
  made.delimiter = delimiter.front();
  TRY(check(made, file));
  return made;
}

}  // namespace

Result<TableDescription> parse_description(std::string_view text, const std::string& file) {
  TRY_AS(root, parse_toml(text, file, ErrorKind::usage));
  return description_of(*root, file, false);
}

const std::vector<TableDescription>& builtin_descriptions() {
  static const std::vector<TableDescription> all = [] {
    std::vector<TableDescription> made;
    for (const EmbeddedToml& file : builtin_table_files) {
      auto description =
          description_of(file.table(), fmt::format("tables/{}.toml", file.name), true);
      if (description) made.push_back(std::move(*description));  // the tests parse each
    }
    return made;
  }();
  return all;
}

std::span<const EmbeddedToml> builtin_description_files() { return builtin_table_files; }

std::vector<std::string_view> texts_asked_for(const EmbeddedToml& file) {
  std::vector<std::string_view> asked;
  std::string_view head;
  bool has_heads_of_its_own = false, is_column = false;
  const auto end_column = [&] {
    if (!head.empty() && !has_heads_of_its_own) asked.push_back(head);
    head = {};
  };
  file.for_each([&](EmbeddedValue is, std::string_view key, std::string_view text) {
    if (is == EmbeddedValue::table) {
      end_column();
      is_column = key == "column";
    } else if (is_column && key == "head") {
      head = text;
    } else if (is_column && key == "optional" && text == "1") {
      head = {};
    } else if (key == "heads") {
      has_heads_of_its_own = true;
    } else if (key == "marks" && text.find_first_of("\\^$.|?*+()[]{}") == text.npos) {
      asked.push_back(text);
    }
  });
  end_column();
  return asked;
}

bool may_fit_builtin_description(std::string_view text) {
  // Word by word: in a head, a line's end is a blank.
  const auto holds = [&](std::string_view asked) {
    for (std::size_t at = 0, end = 0; at < asked.size(); at = end + 1) {
      end = std::min(asked.find(' ', at), asked.size());
      if (!has_text(text, asked.substr(at, end - at))) return false;
    }
    return true;
  };
  return std::ranges::any_of(builtin_table_files, [&](const EmbeddedToml& file) {
    return std::ranges::all_of(texts_asked_for(file), holds);
  });
}

Result<std::vector<std::string>> description_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) {
      files.push_back(path);
      continue;
    }
    const std::size_t first = files.size();
    for (const auto& entry : std::filesystem::directory_iterator(path, ignored)) {
      if (entry.path().extension() == ".toml") files.push_back(entry.path().string());
    }
    if (files.size() == first) {
      return usage_error("{}: the folder has no .toml file; name a description", path);
    }
    std::sort(files.begin() + std::ptrdiff_t(first), files.end());
  }
  return files;
}

Result<std::vector<TableDescription>> read_descriptions(const std::vector<std::string>& paths) {
  TRY_AS(files, description_files(paths));
  std::vector<TableDescription> read;
  for (const std::string& file : *files) {
    TRY_AS(text, MappedFile::open(file));
    TRY_AS(description, parse_description(as_text(text->bytes()), file));
    read.push_back(std::move(*description));
  }
  return read;
}

std::string_view word_of(TableColumn::Is is) { return word_in(column_words, is); }
std::string_view word_of(TableUnit unit) { return word_in(unit_words, unit); }
std::string_view word_of(TableLayout layout) { return word_in(layout_words, layout); }

}  // namespace npuscope::tables
