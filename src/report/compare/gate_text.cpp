#include "report/compare/gate_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "base/toml_reader.hpp"
#include "base/try.hpp"

namespace npuscope::report {

namespace {

using analysis::Gate;
using analysis::MeasuredIn;

constexpr const char* example =
    "such as 'wall > +3%', 'busy(HMX) < -5%' or \"op('MatMul').work > 5us\"";

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
    {"kB", MeasuredIn::bytes, 1e3},
    {"MB", MeasuredIn::bytes, 1e6},
    {"GB", MeasuredIn::bytes, 1e9},
    {"KiB", MeasuredIn::bytes, 1024},
    {"MiB", MeasuredIn::bytes, 1024 * 1024},
    {"GiB", MeasuredIn::bytes, 1024.0 * 1024 * 1024},
};

Gate::Comparator opposite_of(Gate::Comparator comparator) {
  using Comparator = Gate::Comparator;
  switch (comparator) {
    case Comparator::more: return Comparator::at_most;
    case Comparator::at_least: return Comparator::less;
    case Comparator::less: return Comparator::at_least;
    case Comparator::at_most: break;
  }
  return Comparator::more;
}

class GateReader {
 public:
  GateReader(std::string_view text, GateForm form, std::string_view where)
      : where_(where), text_(text), rest_(trimmed(text)) {
    gate_.is_requirement = form == GateForm::require;
  }

  Result<Gate> read() {
    gate_.text = trimmed(text_);
    for (const auto step : {&GateReader::metric, &GateReader::comparator, &GateReader::limit}) {
      TRY((this->*step)());
      rest_ = trimmed(rest_);
    }
    return std::move(gate_);
  }

 private:
  tl::unexpected<Error> wrong(std::string_view what) const {
    return usage_error("{} '{}': {}; write a metric, a comparator and a limit, {}", where_, text_,
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
  void take_statistic();
  Status name_or_op();
  Status metric();
  Status comparator();
  Status limit();

  std::string_view where_, text_, rest_;
  bool is_quoted_ = false;  // the name as it stands in the file, dots and all
  Gate gate_;
};

// Behind "op(".
Status GateReader::op() {
  rest_ = trimmed(rest_);
  const auto pattern_text = quoted();
  if (!pattern_text) return wrong("op( wants a regular expression in quotes");
  TRY_AS(pattern, Pattern::compile(fmt::format("{} op()", where_), *pattern_text));
  gate_.op = std::move(*pattern);
  gate_.op_text = *pattern_text;
  rest_ = trimmed(rest_);
  if (!rest_.starts_with(')')) return wrong("a ')' is missing");
  rest_.remove_prefix(1);
  if (!rest_.starts_with('.')) return {};
  rest_.remove_prefix(1);
  if (const auto name = quoted()) {
    gate_.metric = *name;
    is_quoted_ = true;
    return {};
  }
  const std::size_t end = std::min(rest_.find_first_of("<> \t"), rest_.size());
  gate_.metric = rest_.substr(0, end);
  std::replace(gate_.metric.begin(), gate_.metric.end(), '_', ' ');  // dominant_path
  rest_.remove_prefix(end);
  if (gate_.metric.empty()) return wrong("a column is missing behind the '.'");
  return {};
}

// "wall.p95", "op('MatMul').max", "'RPC time'.max".
void GateReader::take_statistic() {
  std::string text = gate_.metric;
  if (is_quoted_) {
    const std::size_t end = std::min(rest_.find_first_of("<> \t"), rest_.size());
    text = rest_.substr(0, end);
    if (!text.starts_with('.')) return;
  }
  const std::size_t dot = text.rfind('.');
  const bool is_all = gate_.op && !is_quoted_ && dot == text.npos;  // op('MatMul').max
  if (dot == text.npos && !is_all) return;
  const std::string name = is_all ? text : text.substr(dot + 1);
  using Statistic = Gate::Statistic;
  constexpr std::pair<std::string_view, double> percentiles[] = {
      {"median", 50}, {"p50", 50}, {"p75", 75}, {"p90", 90}, {"p95", 95}, {"p99", 99}};
  if (name == "min" || name == "max") {
    gate_.statistic = name == "min" ? Statistic::min : Statistic::max;
  }
  for (const auto& [word, percent] : percentiles) {
    if (name != word) continue;
    gate_.statistic = Statistic::percentile;
    gate_.percent = percent;
  }
  if (gate_.statistic == Statistic::usual) return;
  if (is_quoted_) return rest_.remove_prefix(text.size());
  gate_.metric = is_all ? "" : text.substr(0, dot);
}

Status GateReader::metric() {
  const Status read = name_or_op();
  if (read) take_statistic();
  return read;
}

Status GateReader::name_or_op() {
  if (rest_.starts_with("op(")) {
    rest_.remove_prefix(3);
    return op();
  }
  if (const auto name = quoted()) {
    gate_.metric = *name;
    is_quoted_ = true;
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
    is_quoted_ = true;
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
    gate_.comparator = gate_.is_requirement ? opposite_of(comparator) : comparator;
    rest_.remove_prefix(name.size());
    return {};
  }
  return wrong("it has no >, >=, < or <=");
}

Status GateReader::limit() {
  const bool has_sign = rest_.starts_with('+') || rest_.starts_with('-');
  const bool is_negative = rest_.starts_with('-');
  if (has_sign) rest_.remove_prefix(1);
  const bool begins_well = !rest_.empty() && (rest_.front() == '.' || is_digit(rest_.front()));
  const auto number = begins_well ? take_number<double>(rest_) : std::nullopt;
  if (!number || !std::isfinite(*number)) {
    return wrong("it has no number to compare with");
  }
  const std::string_view unit = trimmed(rest_);
  gate_.threshold = is_negative ? -*number : *number;
  gate_.limit = has_sign ? Gate::Limit::change : Gate::Limit::value;
  rest_ = {};
  if (unit.empty()) return {};
  if (unit == "%") {
    const bool is_of_wall = gate_.metric.starts_with("share(") && !has_sign;
    gate_.limit = is_of_wall ? Gate::Limit::value : Gate::Limit::share;
    gate_.threshold /= 100;
    if (is_of_wall) gate_.unit = MeasuredIn::share;
    return {};
  }
  const auto* known = std::find_if(std::begin(limit_units), std::end(limit_units),
                                   [&](const LimitUnit& each) { return each.name == unit; });
  if (known == std::end(limit_units)) {
    return wrong(fmt::format(
        "unknown unit '{}' (%, ns, us, ms, s, cyc, ticks, B, kB, MB, GB, KiB, MiB, GiB or none)",
        unit));
  }
  gate_.unit = known->unit;
  gate_.threshold *= known->factor;
  return {};
}

}  // namespace

Result<Gate> read_gate(std::string_view text, GateForm form, std::string_view where) {
  return GateReader(text, form, where).read();
}

namespace {

constexpr std::size_t max_gates = 1'000;

constexpr std::pair<std::string_view, Inconclusive> policies[] = {
    {"fail", Inconclusive::fail}, {"warn", Inconclusive::warn}, {"pass", Inconclusive::pass}};

void read_policy(TomlReader& in, std::optional<Inconclusive>& out) {
  Inconclusive policy{};
  in.word("inconclusive", policies, policy);
  if (in.has("inconclusive")) out = policy;
}

Result<GateFile::Entry> read_entry(TomlReader& in) {
  GateFile::Entry entry;
  std::string fail_if, require;
  in.text("fail_if", fail_if);
  in.text("require", require);
  if (in.has("fail_if") == in.has("require")) {
    in.fail({}, "a gate has either fail_if or require, {}",
            in.has("require") ? "not both" : "this one has none");
  }
  std::string name, reason;
  in.text("name", name);
  in.text("reason", reason);
  read_policy(in, entry.inconclusive);
  TRY(in.finish());
  const char* const word = fail_if.empty() ? "require" : "fail_if";
  TRY_AS(gate, read_gate(fail_if.empty() ? require : fail_if,
                         fail_if.empty() ? GateForm::require : GateForm::fail_if,
                         fmt::format("{}: {}", in.place_of(word), word)));
  entry.gate = std::move(*gate);
  entry.gate.name = std::move(name);
  entry.gate.reason = std::move(reason);
  return entry;
}

}  // namespace

Result<GateFile> read_gate_file(std::string_view text, const std::string& file) {
  TRY_AS(root, parse_toml(text, file, ErrorKind::usage));
  const TomlFile source{file};
  TomlReader in(*root, source);
  GateFile read;
  read_policy(in, read.inconclusive);
  in.tables(
      "gate",
      [&](TomlReader& each) {
        auto entry = read_entry(each);
        if (entry) {
          read.gates.push_back(std::move(*entry));
        } else {
          each.keep(entry.error());
        }
      },
      Needed::yes, max_gates);
  TRY(in.finish());
  return read;
}

}  // namespace npuscope::report
