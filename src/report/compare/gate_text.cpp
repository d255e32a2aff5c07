#include "report/compare/gate_text.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/numbers.hpp"

namespace npuscope::report {
namespace {

using analysis::Gate;
using analysis::MeasuredIn;

constexpr const char* example =
    "such as 'wall > +3%', 'busy(HMX) < -5%' or \"op('MatMul').work > 5us\"";

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

struct LimitUnit {
  std::string_view name;
  MeasuredIn unit;
  double factor;
};
constexpr LimitUnit limit_units[] = {
    {"ns", MeasuredIn::seconds, 1e-9},
    {"us", MeasuredIn::seconds, 1e-6},
    {"ms", MeasuredIn::seconds, 1e-3},
    {"s", MeasuredIn::seconds, 1},
    {"cyc", MeasuredIn::cycles, 1},
    {"ticks", MeasuredIn::ticks, 1},
    {"B", MeasuredIn::bytes, 1},
    {"KiB", MeasuredIn::bytes, 1024},
    {"MiB", MeasuredIn::bytes, 1024 * 1024},
    {"GiB", MeasuredIn::bytes, 1024.0 * 1024 * 1024},
};

class GateReader {
 public:
  explicit GateReader(std::string_view text) : text_(text), rest_(trimmed(text)) {}

  Result<Gate> read() {
    gate_.text = trimmed(text_);
    for (const auto step : {&GateReader::metric, &GateReader::comparator, &GateReader::limit}) {
      const Status read = (this->*step)();
      if (!read) return tl::unexpected(read.error());
      rest_ = trimmed(rest_);
    }
    return std::move(gate_);
  }

 private:
  tl::unexpected<Error> wrong(std::string_view what) const {
    return usage_error("--fail-if '{}': {}; write a metric, a comparator and a limit, {}", text_,
                       what, example);
  }

  // The inside of the quotes that the rest begins with.
  std::optional<std::string_view> quoted() {
    if (!rest_.starts_with('\'') && !rest_.starts_with('"')) return std::nullopt;
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == rest_.npos) return std::nullopt;
    const std::string_view inside = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return inside;
  }

  Status op();
  Status metric();
  Status comparator();
  Status limit();

  std::string_view text_, rest_;
  Gate gate_;
};

// Behind "op(".
Status GateReader::op() {
  rest_ = trimmed(rest_);
  const auto pattern_text = quoted();
  if (!pattern_text) return wrong("op( wants a regular expression in quotes");
  auto pattern = Pattern::compile("--fail-if op()", *pattern_text);
  if (!pattern) return tl::unexpected(pattern.error());
  gate_.op = std::move(*pattern);
  gate_.op_text = *pattern_text;
  rest_ = trimmed(rest_);
  if (!rest_.starts_with(')')) return wrong("a ')' is missing");
  rest_.remove_prefix(1);
  if (!rest_.starts_with('.')) return {};
  rest_.remove_prefix(1);
  if (const auto name = quoted()) {
    gate_.metric = *name;
    return {};
  }
  const std::size_t end = std::min(rest_.find_first_of("<> \t"), rest_.size());
  gate_.metric = rest_.substr(0, end);
  std::replace(gate_.metric.begin(), gate_.metric.end(), '_', ' ');  // dominant_path
  rest_.remove_prefix(end);
  if (gate_.metric.empty()) return wrong("a column is missing behind the '.'");
  return {};
}

Status GateReader::metric() {
  if (rest_.starts_with("op(")) {
    rest_.remove_prefix(3);
    return op();
  }
  if (const auto name = quoted()) {
    gate_.metric = *name;
    return {};
  }
  if (rest_.starts_with("phase(")) {  // its name may hold anything: up to the last ')'
    const std::size_t end = rest_.rfind(')');
    if (end == rest_.npos) return wrong("a ')' is missing");
    std::string_view name = trimmed(rest_.substr(6, end - 6));
    const bool has_quotes = name.size() > 1 && name.front() == name.back() &&
                            (name.front() == '\'' || name.front() == '"');
    if (has_quotes) name = name.substr(1, name.size() - 2);
    gate_.metric = fmt::format("phase('{}')", name);
    rest_.remove_prefix(end + 1);
    return {};
  }
  const std::size_t end = std::min(rest_.find_first_of("<>"), rest_.size());
  gate_.metric = trimmed(rest_.substr(0, end));
  rest_.remove_prefix(end);
  if (gate_.metric.empty()) return wrong("it does not begin with a metric");
  return {};
}

Status GateReader::comparator() {
  using Comparator = Gate::Comparator;
  constexpr std::pair<std::string_view, Comparator> all[] = {{">=", Comparator::at_least},
                                                             {"<=", Comparator::at_most},
                                                             {">", Comparator::more},
                                                             {"<", Comparator::less}};
  for (const auto& [name, comparator] : all) {
    if (!rest_.starts_with(name)) continue;
    gate_.comparator = comparator;
    rest_.remove_prefix(name.size());
    return {};
  }
  return wrong("there is no >, >=, < or <=");
}

Status GateReader::limit() {
  const bool has_sign = rest_.starts_with('+') || rest_.starts_with('-');
  const bool is_negative = rest_.starts_with('-');
  if (has_sign) rest_.remove_prefix(1);
  const bool begins_well =
      !rest_.empty() &&
      (rest_.front() == '.' || std::isdigit(static_cast<unsigned char>(rest_.front())));
  const auto number = begins_well ? take_number<double>(rest_) : std::nullopt;
  if (!number || !std::isfinite(*number)) {
    return wrong("there is no number to compare with");
  }
  const std::string_view unit = trimmed(rest_);
  gate_.threshold = is_negative ? -*number : *number;
  gate_.limit = has_sign ? Gate::Limit::change : Gate::Limit::value;
  rest_ = {};
  if (unit.empty()) return {};
  if (unit == "%") {
    gate_.limit = Gate::Limit::share;
    gate_.threshold /= 100;
    return {};
  }
  const auto* known = std::find_if(std::begin(limit_units), std::end(limit_units),
                                   [&](const LimitUnit& each) { return each.name == unit; });
  if (known == std::end(limit_units)) {
    return wrong(fmt::format(
        "'{}' is no unit (%, ns, us, ms, s, cyc, ticks, B, KiB, MiB, GiB or none)", unit));
  }
  gate_.unit = known->unit;
  gate_.threshold *= known->factor;
  return {};
}

}  // namespace

Result<Gate> read_gate(std::string_view text) { return GateReader(text).read(); }

}  // namespace npuscope::report
