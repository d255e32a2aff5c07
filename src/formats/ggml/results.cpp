#include "formats/ggml/results.hpp"

#include <algorithm>
#include <array>
#include <cmath>
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

namespace {

std::optional<double> number_in(std::string_view text) {
  text = trimmed(text);
  return take_number<double>(text);
}

}  // namespace

bool Results::any() const {
  return prompt.tokens > 0 || decode.tokens > 0 || !bench.rows().empty() || !backend_ops.empty();
}

bool Results::take(std::string_view line) {
  if (line.find("eval time =") != line.npos) return take_eval(line);
  if (line.find("model buffer size =") != line.npos) return take_buffer(line);
  if (line.find("us/run") != line.npos) return take_backend_op(line);
  return bench.take(line);
}

// "prompt eval time =       0.95 ms /    32 tokens"; of a server one for each request, of other
// programs one for all.
bool Results::take_eval(std::string_view line) {
  const std::size_t at = line.find("eval time =");
  const bool is_prompt = line.substr(0, at).ends_with("prompt ");
  std::string_view rest = trimmed(line.substr(at + 11));
  const auto milliseconds = take_number<double>(rest);
  const std::size_t slash = rest.find('/');
  if (!milliseconds || !(*milliseconds >= 0) || slash == rest.npos) return false;
  const auto tokens = number_in(rest.substr(slash + 1));
  if (!tokens || !(*tokens >= 0)) return false;
  // The count is at least 1 even where there was none.
  EvalTime time{*milliseconds, *milliseconds > 0 ? *tokens : 0};
  // The rate has more digits than the time, which ends at the hundredth.
  constexpr double rounding = 0.0051;
  const std::size_t end = rest.find(" tokens per second");
  const std::size_t begin = end == rest.npos ? end : rest.rfind(',', end);
  if (begin != rest.npos) {
    const double rate = number_in(rest.substr(begin + 1)).value_or(0);
    const double exact = rate > 0 ? time.tokens / rate * 1e3 : 0;
    if (exact > 0 && std::abs(exact - *milliseconds) <= rounding) time.milliseconds = exact;
  }
  EvalTime& into = is_prompt ? prompt : decode;
  if (line.find("perf") != line.npos) {
    into = time;
  } else {
    into.milliseconds += time.milliseconds;
    into.tokens += time.tokens;
  }
  return true;
}

// "load_tensors:          CPU model buffer size =    25.70 MiB"
bool Results::take_buffer(std::string_view line) {
  const std::size_t at = line.find(" model buffer size =");
  const std::size_t colon = line.find(": ");
  const auto size = number_in(line.substr(at + 20));
  if (colon == line.npos || colon > at || !size) return false;
  constexpr std::size_t max_buffers = 64;
  const std::string name(trimmed(line.substr(colon + 2, at - colon - 2)));
  if (buffers_mib.size() < max_buffers && name.size() < 64) buffers_mib[name] = *size;
  return true;
}

// "MUL_MAT(type_a=q4_0,…):  852 runs -  1184.56 us/run - 117.44 MFLOP/run -  99.14 GFLOPS"; what it
// calls GB/s are GiB.
bool Results::take_backend_op(std::string_view line) {
  const std::size_t end = line.rfind("):");
  const std::size_t open = line.find('(');
  constexpr std::size_t max_rows = 100'000;
  if (end == line.npos || open == line.npos || open > end || backend_ops.size() >= max_rows) {
    return false;
  }
  BackendOp row;
  row.name = trimmed(line.substr(0, end + 1));
  std::string_view rest = line.substr(end + 2);
  const auto runs = number_in(rest);
  const std::size_t dash = rest.find(" - ");
  if (!runs || dash == rest.npos) return false;
  row.runs = *runs;
  rest.remove_prefix(dash + 3);
  const auto microseconds = number_in(rest);
  if (!microseconds || !(*microseconds > 0)) return false;
  row.microseconds = *microseconds;
  const std::size_t last = rest.rfind(" - ");
  if (last != rest.npos) {
    std::string_view rate = trimmed(rest.substr(last + 3));
    const auto value = take_number<double>(rate);
    rate = trimmed(rate);
    constexpr double gib = 1024.0 * 1024 * 1024;
    constexpr std::array<std::pair<std::string_view, double>, 5> units{
        {{"TFLOPS", 1e12}, {"GFLOPS", 1e9}, {"MFLOPS", 1e6}, {"FLOPS", 1}, {"GB/s", gib}}};
    for (const auto& [unit, factor] : units) {
      if (!value || !rate.starts_with(unit)) continue;
      row.rate = *value * factor;
      row.is_of_bytes = unit == "GB/s";
      break;
    }
  }
  backend_ops.push_back(std::move(row));
  return true;
}

bool looks_like_results(std::string_view head) {
  const auto has = [&](std::string_view text) { return has_text(head, text); };
  const bool is_ops = has(" us/run - ") && has(" runs - ");
  const bool is_perf = has("perf_context_print:") || has("common_perf_print:");
  return BenchTable::is_head(head) || is_ops || is_perf;
}

}  // namespace npuscope::ggml
