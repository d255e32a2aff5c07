#include "formats/ggml/results.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace npuscope::ggml {
namespace {

std::vector<std::string> cells_of(std::string_view line, char separator) {
  std::vector<std::string> cells;
  constexpr std::size_t max_cells = 128;
  while (cells.size() < max_cells) {
    const std::size_t end = line.find(separator);
    std::string_view cell = trimmed(line.substr(0, end));
    if (cell.size() > 1 && cell.front() == '"' && cell.back() == '"') {
      cell = cell.substr(1, cell.size() - 2);
    }
    cells.emplace_back(cell);
    if (end == line.npos) break;
    line.remove_prefix(end + 1);
  }
  return cells;
}

std::optional<double> number_in(std::string_view text) {
  text = trimmed(text);
  return take_number<double>(text);
}

bool has_cell(const std::vector<std::string>& cells, std::string_view name) {
  return std::ranges::find(cells, name) != cells.end();
}

}  // namespace

bool Results::any() const {
  return prompt.tokens > 0 || decode.tokens > 0 || !bench.empty() || !backend_ops.empty();
}

void Results::refuse(std::string_view op) {
  constexpr std::size_t max_ops = 256;
  if (op.empty() || op.size() > 64 ||
      (refused.size() >= max_ops && !refused.contains(std::string(op))))
    return;
  refused[std::string(op)] += 1;
}

bool Results::take(std::string_view line) {
  if (line.find("eval time =") != line.npos) return take_eval(line);
  if (line.find("## SPLIT") != line.npos || line.find("node #") != line.npos)
    return take_split(line);
  if (line.find("model buffer size =") != line.npos) return take_buffer(line);
  if (line.find("us/run") != line.npos) return take_backend_op(line);
  return take_bench(line);
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

// "## SPLIT #0: HTP0 # 3 inputs: …", "node #  0 (  RMS_NORM): norm-0 (1K) [ HTP0 ]": several pieces
// of a line, perhaps each with a prefix.
bool Results::take_split(std::string_view line) {
  constexpr std::size_t max_backends = 64;
  const auto add = [](std::map<std::string, std::uint64_t>& into, const std::string& name) {
    if (into.size() < max_backends || into.contains(name)) into[name] += 1;
  };
  if (const std::size_t at = line.find("## SPLIT #"); at != line.npos) {
    const std::size_t colon = line.find(": ", at);
    if (colon == line.npos) return false;
    const std::string_view name = trimmed(line.substr(colon + 2));
    split_backend_ = name.substr(0, std::min<std::size_t>(name.find(' '), 32));
    add(splits, split_backend_);
  }
  if (split_backend_.empty()) return true;
  for (std::size_t at = line.find("node #"); at != line.npos; at = line.find("node #", at + 1)) {
    add(scheduled, split_backend_);
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

// "| qwen2 1B Q4_0 | 403 MiB | 630 M | HTP | 99 | pp512 | 1234.56 ± 7.89 |", or CSV or JSON lines.
bool Results::take_bench(std::string_view line) {
  line = trimmed(line);
  constexpr std::size_t max_rows = 10'000;
  if (bench.size() >= max_rows) return false;
  if (line.starts_with('|')) {
    std::vector<std::string> cells = cells_of(line.substr(1), '|');
    if (has_cell(cells, "test") && has_cell(cells, "t/s")) {
      columns_ = std::move(cells);
      csv_ = false;
      return true;
    }
    if (columns_.empty() || csv_ || line.find("---") != line.npos) return false;
    BenchRow row;
    for (std::size_t i = 0; i < std::min(cells.size(), columns_.size()); ++i) {
      if (columns_[i] == "test") row.test = cells[i];
      if (columns_[i] != "t/s") continue;
      row.tokens_per_second = number_in(cells[i]).value_or(0);
      const std::size_t sign = cells[i].find("\xc2\xb1");
      if (sign != std::string::npos) {
        row.deviation = number_in(std::string_view(cells[i]).substr(sign + 2)).value_or(0);
      }
    }
    if (!(row.tokens_per_second > 0) || row.test.empty()) return false;
    bench.push_back(std::move(row));
    return true;
  }
  if (line.starts_with("build_commit,")) {
    columns_ = cells_of(line, ',');
    csv_ = true;
    return true;
  }
  if (csv_ && !columns_.empty()) {
    const std::vector<std::string> cells = cells_of(line, ',');
    if (cells.size() != columns_.size()) return false;
    BenchRow row;
    double prompt_tokens = 0, generated = 0, depth = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const double value = number_in(cells[i]).value_or(0);
      if (columns_[i] == "n_prompt") prompt_tokens = value;
      if (columns_[i] == "n_gen") generated = value;
      if (columns_[i] == "n_depth") depth = value;
      if (columns_[i] == "avg_ts") row.tokens_per_second = value;
      if (columns_[i] == "stddev_ts") row.deviation = value;
    }
    if (!(row.tokens_per_second > 0)) return false;
    const auto add = [&](const char* what, double count) {
      if (!(count > 0) || count > 1e9) return;
      row.test += (row.test.empty() ? "" : "+") + (what + std::to_string(std::int64_t(count)));
    };
    add("pp", prompt_tokens);
    add("tg", generated);
    if (depth > 0 && depth < 1e9) row.test += " @ d" + std::to_string(std::int64_t(depth));
    bench.push_back(std::move(row));
    return true;
  }
  return false;
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
  const bool is_table = head.find("| model") != head.npos && head.find(" t/s |") != head.npos;
  const bool is_csv = head.starts_with("build_commit,") && head.find("avg_ts") != head.npos;
  const bool is_ops = head.find(" us/run - ") != head.npos && head.find(" runs - ") != head.npos;
  const bool is_perf =
      head.find("perf_context_print:") != head.npos || head.find("common_perf_print:") != head.npos;
  return is_table || is_csv || is_ops || is_perf;
}

}  // namespace npuscope::ggml
