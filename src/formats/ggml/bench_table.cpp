#include "formats/ggml/bench_table.hpp"

#include <algorithm>
#include <cstdint>

#include "base/has_text.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"

namespace npuscope::ggml {
namespace {

constexpr std::size_t max_bench_rows = 10'000, max_cells = 128;
constexpr std::string_view first_key = "\"build_commit\":";  // of each row of JSON
constexpr std::string_view plus_minus = "\xc2\xb1";

// Cells in quotes may hold the separator.
std::vector<std::string> cells_of(std::string_view line, char separator) {
  std::vector<std::string> cells;
  while (cells.size() < max_cells) {
    line = trimmed(line);
    const bool is_quoted = line.starts_with('"');
    const std::size_t quote = is_quoted ? line.find('"', 1) : line.npos;
    const std::size_t end = line.find(separator, quote == line.npos ? 0 : quote);
    cells.emplace_back(quote == line.npos ? trimmed(line.substr(0, end))
                                          : line.substr(1, quote - 1));
    if (end == line.npos) break;
    line.remove_prefix(end + 1);
  }
  return cells;
}

double leading_number(std::string_view text) {
  text = trimmed(text);
  return take_number<double>(text).value_or(0);
}

bool has_cell(const std::vector<std::string>& cells, std::string_view name) {
  return std::ranges::find(cells, name) != cells.end();
}

}  // namespace

bool BenchTable::is_head(std::string_view head) {
  const bool is_markdown = has_text(head, "| model") && has_text(head, " t/s |");
  const bool is_csv = head.starts_with("build_commit,") && has_text(head, "avg_ts");
  constexpr std::size_t max_before = 63;
  const bool is_json = has_text(head.substr(0, max_before + first_key.size()), first_key) &&
                       has_text(head, "\"n_prompt\":");
  return is_markdown || is_csv || is_json;
}

bool BenchTable::take(std::string_view line) {
  line = trimmed(line);
  if (rows_.size() >= max_bench_rows) return false;
  if (line.starts_with('|')) return take_markdown(line.substr(1));
  if (line.starts_with("build_commit,")) {
    columns_ = cells_of(line, ',');
    form_ = Form::csv;
    return true;
  }
  const bool begins = line.find(first_key) != line.npos;
  if (begins || form_ == Form::json) return take_json(line);
  return form_ == Form::csv && take_csv(line);
}

bool BenchTable::take_markdown(std::string_view line) {
  std::vector<std::string> cells = cells_of(line, '|');
  if (has_cell(cells, "test") && has_cell(cells, "t/s")) {
    columns_ = std::move(cells);
    form_ = Form::markdown;
    return true;
  }
  if (form_ != Form::markdown || line.find("---") != line.npos) return false;
  BenchRow row;
  for (std::size_t i = 0; i < std::min(cells.size(), columns_.size()); ++i) {
    if (columns_[i] == "test") row.test = cells[i];
    if (columns_[i] != "t/s") continue;
    row.tokens_per_second = leading_number(cells[i]);
    const std::size_t sign = cells[i].find(plus_minus);
    if (sign != std::string::npos) {
      row.deviation = leading_number(std::string_view(cells[i]).substr(sign + plus_minus.size()));
    }
  }
  if (!(row.tokens_per_second > 0) || row.test.empty()) return false;
  rows_.push_back(std::move(row));
  return true;
}

bool BenchTable::take_csv(std::string_view line) {
  const std::vector<std::string> cells = cells_of(line, ',');
  if (cells.size() != columns_.size()) return false;
  Stated stated;
  for (std::size_t i = 0; i < cells.size(); ++i) stated.set(columns_[i], cells[i]);
  return add(stated);
}

// An object on one line, or a key on each.
bool BenchTable::take_json(std::string_view line) {
  if (line.find(first_key) != line.npos) open_ = {};
  form_ = Form::json;
  bool any = false;
  for (std::size_t at = line.find('"'); at != line.npos; at = line.find('"', at + 1)) {
    const std::size_t end = line.find("\":", at + 1);
    if (end == line.npos) break;
    const std::size_t begin = line.rfind('"', end - 1);
    if (begin == line.npos || begin < at) break;
    open_.set(line.substr(begin + 1, end - begin - 1), line.substr(end + 2));
    any = true;
    at = end;
  }
  if (!line.ends_with('}') && !line.ends_with("},")) return any;
  form_ = Form::none;
  return add(open_) || any;
}

void BenchTable::Stated::set(std::string_view key, std::string_view value) {
  if (key == "n_prompt") prompt = leading_number(value);
  if (key == "n_gen") generated = leading_number(value);
  if (key == "n_depth") depth = leading_number(value);
  if (key == "avg_ts") rate = leading_number(value);
  if (key == "stddev_ts") deviation = leading_number(value);
}

bool BenchTable::add(const Stated& stated) {
  if (!(stated.rate > 0)) return false;
  BenchRow row{"", stated.rate, stated.deviation};
  constexpr double max_tokens = 1e9;
  const auto tell = [&](const char* what, double count) {
    if (!(count > 0) || count > max_tokens) return;
    row.test += (row.test.empty() ? "" : "+") + (what + std::to_string(std::int64_t(count)));
  };
  tell("pp", stated.prompt);
  tell("tg", stated.generated);
  if (stated.depth > 0 && stated.depth < max_tokens) {
    row.test += " @ d" + std::to_string(std::int64_t(stated.depth));
  }
  rows_.push_back(std::move(row));
  return true;
}

}  // namespace npuscope::ggml
