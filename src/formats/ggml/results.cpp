#include "formats/ggml/results.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/has_text.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"

namespace npuscope::ggml {
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
