#include "formats/tables/draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <set>

#include "base/json_writer.hpp"
#include "base/text.hpp"
#include "formats/tables/cell_numbers.hpp"
#include "formats/tables/records.hpp"
#include "formats/tables/table_profile.hpp"

namespace npuscope::tables {
namespace {

using Is = TableColumn::Is;

constexpr std::size_t max_rows = 200, max_preamble = 64;
constexpr std::string_view delimiters = ",;\t|";

using Texts = std::vector<std::string>;

bool is_text(const std::string& field) { return !trimmed(field).empty() && !number_in(field); }

// The first record of two fields or more that are all texts, with a row of as many fields below.
std::vector<Texts> table_in(const std::vector<Texts>& records) {
  for (std::size_t i = 0; i + 1 < records.size() && i < max_preamble; ++i) {
    const std::size_t width = records[i].size();
    const bool is_header =
        width > 1 && records[i + 1].size() == width &&
        std::ranges::count_if(records[i], is_text) + 1 >= std::ptrdiff_t(width) &&
        std::ranges::any_of(records[i + 1],
                            [](const std::string& field) { return number_in(field).has_value(); });
    if (!is_header) continue;
    std::vector<Texts> table;
    for (std::size_t row = i; row < records.size() && records[row].size() == width; ++row) {
      table.push_back(records[row]);
    }
    return table;
  }
  return {};
}

// The words of "Op Cycles (avg)" or "durationUs": op, cycles, avg.
std::set<std::string, std::less<>> words_of(std::string_view head) {
  std::set<std::string, std::less<>> words;
  std::string word;
  for (std::size_t i = 0; i <= head.size(); ++i) {
    const bool ends = i == head.size() || !(is_letter(head[i]) || head[i] == '%');
    const bool is_hump =
        !ends && i > 0 && is_capital(head[i]) && is_letter(head[i - 1]) && !is_capital(head[i - 1]);
    if ((ends || is_hump) && !word.empty()) {
      words.insert(in_small_letters(word));
      word.clear();
    }
    if (!ends) word += head[i];
  }
  return words;
}

class Guess {
 public:
  explicit Guess(std::string_view head) : words_(words_of(head)) {}

  bool has(std::initializer_list<std::string_view> any) const {
    return std::ranges::any_of(any, [&](std::string_view word) { return words_.contains(word); });
  }
  std::optional<TableUnit> unit() const {
    if (has({"cycles", "cycle", "cyc", "clk", "clocks"})) return TableUnit::cycles;
    if (has({"ns", "nsec", "nanoseconds"})) return TableUnit::nanoseconds;
    if (has({"us", "usec", "microseconds"})) return TableUnit::microseconds;
    if (has({"ms", "msec", "milliseconds"})) return TableUnit::milliseconds;
    if (has({"s", "sec", "secs", "seconds"})) return TableUnit::seconds;
    if (has({"bytes", "byte", "b"})) return TableUnit::bytes;
    if (has({"kb", "kib"})) return TableUnit::kibibytes;
    if (has({"mac", "macs"})) return TableUnit::macs;
    if (has({"%", "percent", "pct", "percentage", "util", "utilization"}))
      return TableUnit::percent;
    return std::nullopt;
  }
  bool is_time() const {
    return has({"time", "dur", "duration", "elapsed", "latency", "took", "cycles", "total"});
  }
  bool is_start() const { return has({"start", "begin", "ts", "timestamp"}) && !has({"duration"}); }
  bool is_end() const { return has({"end", "stop", "finish"}); }

 private:
  std::set<std::string, std::less<>> words_;
};

// What a column of texts says.
Is meaning_of_text(const Guess& guess) {
  if (guess.has({"dtype", "datatype", "types", "precision"})) return Is::types;
  if (guess.has({"shape", "dims"})) return Is::shape;
  if (guess.has({"type", "kind", "optype", "operator", "category", "kernel"})) return Is::kind;
  if (guess.has({"device", "core", "engine", "unit", "target", "processor", "stream", "queue"})) {
    return Is::unit;
  }
  if (guess.has({"name", "layer", "op", "node", "task"})) return Is::op;
  return Is::key;
}

void make_op_of(DraftColumn& column, bool is_number) {
  column.column.is = Is::op;
  if (is_number) column.column.prefix = "layer ";
}

class Drafting {
 public:
  explicit Drafting(const std::vector<Texts>& table) : table_(table) {}

  std::vector<DraftColumn> run() {
    for (std::size_t i = 0; i < table_.front().size(); ++i) add(i);
    choose_op();
    choose_time();
    only_one(Is::kind, Is::key);
    only_one(Is::start, Is::number);
    only_one(Is::op, Is::key);
    only_one(Is::unit, Is::key);
    return std::move(columns_);
  }

 private:
  void add(std::size_t place) {
    DraftColumn& made = columns_.emplace_back();
    made.column.head = plain_head(table_.front()[place]);
    made.example = trimmed(table_[1][place]);
    std::size_t numbers = 0, texts = 0;
    std::set<std::string_view> different;
    for (std::size_t row = 1; row < table_.size(); ++row) {
      const std::string& cell = table_[row][place];
      different.insert(cell);
      numbers += number_in(cell).has_value();
      texts += is_text(cell);
    }
    is_number_.push_back(numbers > texts);
    different_.push_back(different.size());
    const Guess guess(made.column.head);
    guesses_.push_back(guess);
    made.column.optional = made.column.head.empty();
    if (!is_number_.back()) {
      made.column.is = meaning_of_text(guess);
      return;
    }
    const auto unit = guess.unit();
    if (unit) {
      made.column.unit = *unit;
    } else if (guess.is_start() || guess.is_time()) {
      made.column.unit = TableUnit::microseconds;
      made.is_unit_guessed = true;
    }
    made.column.is = guess.is_start() && is_time(made.column.unit) ? Is::start : Is::number;
    if (guess.has({"device", "core", "stream", "queue"}) && !unit) {
      made.column.is = Is::unit;
      made.column.prefix = in_small_letters(made.column.head) + " ";
    }
  }

  bool has(Is is) const {
    return std::ranges::any_of(columns_, [&](const auto& each) { return each.column.is == is; });
  }

  // A name, else the text with most values, else a number of the row.
  void choose_op() {
    if (has(Is::op)) return;
    std::size_t best = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (is_number_[i] || columns_[i].column.head.empty()) continue;
      if (best == columns_.size() || different_[i] > different_[best]) best = i;
    }
    for (std::size_t i = 0; i < columns_.size() && best == columns_.size(); ++i) {
      if (is_number_[i] && guesses_[i].has({"id", "index", "layer", "idx", "no", "layerid"}))
        best = i;
    }
    if (best < columns_.size()) make_op_of(columns_[best], is_number_[best]);
  }

  // The first that is called a duration, else that is called a time, else that has a unit of time.
  void choose_time() {
    const auto choose = [&](const auto& holds) {
      for (std::size_t i = 0; i < columns_.size() && !has(Is::time); ++i) {
        TableColumn& column = columns_[i].column;
        const bool is_one = is_number_[i] && column.is == Is::number && is_time(column.unit) &&
                            !guesses_[i].is_end() && holds(guesses_[i]);
        if (is_one) column.is = Is::time;
      }
    };
    choose([](const Guess& guess) { return guess.has({"dur", "duration", "elapsed"}); });
    choose([](const Guess& guess) {
      return guess.is_time() && !guess.has({"wait", "stall", "first", "min", "max", "cpu"});
    });
    choose([](const Guess&) { return true; });
  }

  void only_one(Is is, Is else_is) {
    bool is_first = true;
    for (DraftColumn& each : columns_) {
      if (each.column.is != is) continue;
      if (!is_first) each.column.is = else_is;
      is_first = false;
    }
  }

  const std::vector<Texts>& table_;
  std::vector<DraftColumn> columns_;
  std::vector<bool> is_number_;
  std::vector<std::size_t> different_;
  std::vector<Guess> guesses_;
};

// As JSON has it, which TOML reads.
std::string in_quotes(std::string_view text) {
  std::string made;
  JsonWriter<std::string>(made).value(valid_utf8(text));
  return made;
}

}  // namespace

bool Draft::has(TableColumn::Is is) const {
  return std::ranges::any_of(columns, [&](const auto& each) { return each.column.is == is; });
}

Result<Draft> draft_description(ByteSource& source) {
  constexpr std::size_t looked_at = std::size_t{4} << 20;
  std::string head(looked_at, '\0');
  std::size_t filled = 0;
  while (filled < head.size()) {
    const auto count = source.read(std::span(head).subspan(filled));
    if (!count) return tl::unexpected(count.error());
    if (*count == 0) break;
    filled += *count;
  }
  head.resize(filled);
  Draft best;
  std::vector<Texts> widest;
  for (const char delimiter : delimiters) {
    TableDescription description;
    description.delimiter = delimiter;
    auto text = open_byte_source(head, source.name());
    if (!text) return tl::unexpected(text.error());
    CountedNotes losses;
    auto records = open_records(**text, description, losses);
    std::vector<Texts> all;
    while (all.size() < max_rows + max_preamble && (*records)->next()) {
      if (!(*records)->fields().front().empty() || (*records)->fields().size() > 1) {
        all.emplace_back((*records)->fields().begin(), (*records)->fields().end());
      }
    }
    std::vector<Texts> table = table_in(all);
    if (table.empty() || (!widest.empty() && table[0].size() <= widest[0].size())) continue;
    widest = std::move(table);
    best.delimiter = delimiter;
  }
  if (widest.empty()) {
    return input_error(
        "{}: no line is a header of names with a row of as many cells below; tables are drafted of "
        "text with a delimiter (CSV): write the description by hand (docs/formats/tables.md)",
        source.name());
  }
  if (widest.size() > max_rows + 1) widest.resize(max_rows + 1);
  best.file = source.name();
  best.name = valid_utf8(std::filesystem::path(source.name()).filename().stem().string());
  best.rows = widest.size() - 1;
  best.columns = Drafting(widest).run();
  std::erase_if(best.columns, [](const DraftColumn& each) { return each.column.head.empty(); });
  return best;
}

std::string description_text(const Draft& draft) {
  std::string text = fmt::format(
      "# Drafted from {} rows of {}: what a column is was guessed from its head. Correct it; keys "
      "and\n"
      "# values are in docs/formats/tables.md. npuscope tables check says what is wrong.\n"
      "name = {}\n"
      "origin = \"measured\"  # or estimated, simulated\n",
      draft.rows, printable(std::filesystem::path(draft.file).filename().string()),
      in_quotes(draft.name));
  if (draft.delimiter != ',') {
    text += fmt::format("delimiter = {}\n", in_quotes(std::string_view(&draft.delimiter, 1)));
  }
  if (!draft.has(Is::op)) text += "# No column looks like the op: say is = \"op\" of one.\n";
  if (!draft.has(Is::time)) {
    text += "# No column looks like the time of a row: say is = \"time\" and its unit of one.\n";
  }
  for (const DraftColumn& each : draft.columns) {
    const TableColumn& column = each.column;
    text += fmt::format("\n[[column]]\nhead = {}\nis = \"{}\"  # {}\n", in_quotes(column.head),
                        word_of(column.is), printable(each.example.substr(0, 60)));
    if (!column.prefix.empty()) text += fmt::format("prefix = {}\n", in_quotes(column.prefix));
    const bool has_unit =
        column.is == Is::time || column.is == Is::start || column.is == Is::number;
    if (has_unit && column.unit != TableUnit::count) {
      text += fmt::format("unit = \"{}\"{}\n", word_of(column.unit),
                          each.is_unit_guessed ? "  # guessed: the head has no unit" : "");
    }
  }
  return text;
}

}  // namespace npuscope::tables
