#include "report/path/path_sections.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <string_view>

#include "analysis/path/path_groups.hpp"
#include "base/numbers.hpp"
#include "base/sort_rows.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "npuscope/analysis/units.hpp"
#include "npuscope/base/pattern.hpp"
#include "npuscope/profile/unit_path.hpp"

namespace npuscope::report {

namespace {

constexpr double max_speed = 1e6;  // times as fast or slow
constexpr std::string_view of_units = "unit:";

std::optional<double> zero_or_more(std::string_view text) {
  const auto number = parse_number<double>(text);
  return number && std::isfinite(*number) && *number >= 0 ? number : std::nullopt;
}

// The part of its time that something takes: "2x", "50%", "0".
std::optional<double> factor_of(std::string_view text, bool faster) {
  if (text.ends_with('%')) {
    const auto percent = zero_or_more(text.substr(0, text.size() - 1));
    return percent ? std::optional(*percent / 100) : std::nullopt;
  }
  if (text.ends_with('x')) {
    const auto times = zero_or_more(text.substr(0, text.size() - 1));
    if (!times || *times == 0) return std::nullopt;
    return faster ? 1 / *times : *times;
  }
  const auto number = zero_or_more(text);
  return number == 0.0 ? number : std::nullopt;
}

class Rules {
 public:
  explicit Rules(const Profile& profile) : profile_(profile) {}

  Status add(std::string_view flag, const std::string& rule) {
    const bool faster = flag == "--faster";
    const std::size_t sign = rule.rfind('=');
    if (sign == std::string::npos || sign == 0) {
      return usage_error("{} {}: expected PATTERN=FACTOR, as in 'MatMul=2x'", flag, rule);
    }
    const auto factor = factor_of(std::string_view(rule).substr(sign + 1), faster);
    if (!factor) {
      return usage_error(
          "{} {}: '{}' is not a factor; write 2x, a part of the time such as 50%, or 0", flag, rule,
          rule.substr(sign + 1));
    }
    if (faster ? *factor > 1 : *factor < 1) {
      return usage_error("{} {}: that would be {}; use {}", flag, rule,
                         faster ? "slower" : "faster", faster ? "--slower" : "--faster");
    }
    if (*factor > max_speed || (*factor > 0 && *factor < 1 / max_speed)) {
      return usage_error("{} {}: at most a million times", flag, rule);
    }
    return apply(flag, rule, std::string_view(rule).substr(0, sign), *factor);
  }

  analysis::Scaling take() { return std::move(scaling_); }

 private:
  Status apply(std::string_view flag, const std::string& rule, std::string_view text,
               double factor) {
    const bool of_unit = text.starts_with(of_units);
    if (of_unit) text.remove_prefix(of_units.size());
    if (text.empty()) {
      return usage_error("{} {}: expected PATTERN=FACTOR, as in 'unit:DMA=2x'", flag, rule);
    }
    TRY_AS(pattern, Pattern::compile(flag, text));
    std::vector<double>& factors = of_unit ? scaling_.of_unit : scaling_.of_op;
    const std::size_t count = of_unit ? profile_.units.size() : profile_.ops.size();
    if (factors.empty()) factors.assign(count + 1, 1);
    bool any = false;
    for (std::size_t i = 0; i < count; ++i) {
      if (!(of_unit ? unit_matches(*pattern, i) : op_matches(*pattern, i))) continue;
      any = true;
      factors[i] = std::min(factors[i] * factor, max_speed);
    }
    if (any) return {};
    return usage_error("{} {}: no {} of the profile matches{}; npuscope {} lists all", flag, rule,
                       of_unit ? "unit" : "op", examples(of_unit), of_unit ? "units" : "ops");
  }

  // Names that would match: of the ops with most time, or of units.
  std::string examples(bool of_unit) const {
    constexpr std::size_t named = 3;
    std::vector<std::string> names;
    if (of_unit) {
      for (std::size_t i = 0; i < profile_.units.size() && names.size() < named; ++i) {
        names.push_back(path_of(profile_, UnitId(std::uint32_t(i))));
      }
    } else {
      std::vector<std::pair<std::int64_t, std::uint32_t>> times(profile_.ops.size());
      for (std::uint32_t op = 0; op < times.size(); ++op) times[op].second = op;
      for (std::size_t row = 0; row < profile_.spans.size(); ++row) {
        const std::size_t op = index_of(profile_.spans.op[row]);
        if (op < times.size()) times[op].first += profile_.spans.duration[row];
      }
      std::ranges::sort(times, [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
      });
      for (const auto& [time, op] : times) {
        const std::string name = printable(profile_.text(profile_.ops[op].label()));
        if (names.size() == named) break;
        if (time > 0 && std::ranges::find(names, name) == names.end()) names.push_back(name);
      }
    }
    return names.empty() ? std::string() : fmt::format("; it has '{}'", fmt::join(names, "', '"));
  }

  bool op_matches(const Pattern& pattern, std::size_t i) const {
    const Op& op = profile_.ops[i];
    return pattern.found_in(profile_.text(op.name)) || pattern.found_in(profile_.text(op.kind)) ||
           pattern.found_in(profile_.text(op.node));
  }

  bool unit_matches(const Pattern& pattern, std::size_t i) const {
    return pattern.found_in(path_of(profile_, UnitId(std::uint32_t(i))));
  }

  const Profile& profile_;
  analysis::Scaling scaling_;
};

}  // namespace

Result<analysis::Scaling> scaling_of(const Profile& profile, const std::vector<std::string>& faster,
                                     const std::vector<std::string>& slower) {
  Rules rules(profile);
  for (const std::string& rule : faster) {
    TRY(rules.add("--faster", rule));
  }
  for (const std::string& rule : slower) {
    TRY(rules.add("--slower", rule));
  }
  return rules.take();
}

namespace {

using analysis::VendorPath;
using analysis::VendorSegment;

std::vector<std::size_t> longest(const VendorPath& path, std::size_t max) {
  std::vector<std::size_t> places(path.segments.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (max >= places.size()) return places;
  sort_rows(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    return path.segments[a].duration > path.segments[b].duration;
  });
  places.resize(max);
  std::sort(places.begin(), places.end());
  return places;
}

std::vector<Value> row_of(const Profile& profile, const VendorSegment& segment, std::size_t number,
                          std::int64_t begin) {
  std::vector<Value> row{number, segment.start - begin, segment.duration};
  if (segment.row == analysis::no_row) {
    row.insert(row.end(), {Value(), "(idle)", Value(), Value(), Value(), Value(), segment.start,
                           segment.start + segment.duration, Value(), segment.core});
    return row;
  }
  const Spans& spans = profile.spans;
  const std::size_t index = index_of(spans.op[segment.row]);
  const Op op = index < profile.ops.size() ? profile.ops[index] : Op{};
  const StringId name = op.label();
  const std::int64_t whole = spans.duration[segment.row];
  row.insert(row.end(), {whole, profile.text(name), profile.text(op.kind),
                         path_of(profile, spans.unit[segment.row]), segment.critical,
                         segment.duration < whole, segment.start, segment.start + segment.duration,
                         op.id != 0 ? Value(fmt::format("{:#x}", op.id)) : Value(), segment.core});
  return row;
}

}  // namespace

Result<Section> vendor_section(const Profile& profile, const analysis::CriticalPath& path,
                               std::size_t max) {
  TRY_AS(vendor, analysis::vendor_path(profile, path.steps));
  Section section{.key = "vendor", .title = "DOMINANT PATH (QHAS), BY TIME"};
  const auto of_wall = [&](std::int64_t ticks) {
    return vendor->wall > 0 ? Value(double(ticks) / double(vendor->wall)) : Value();
  };
  std::int64_t critical = 0;
  for (const VendorSegment& segment : vendor->segments) critical += segment.critical;
  section.facts = {{{"owned", "owned", Format::ticks}, vendor->owned},
                   {{"idle", "idle", Format::ticks}, vendor->idle},
                   {{"idle_share_of_wall", "idle, of wall", Format::share}, of_wall(vendor->idle)},
                   {{"critical", "on the critical path", Format::ticks}, critical},
                   {{"critical_share_of_wall", "of wall", Format::share}, of_wall(critical)},
                   {{"differing", "", Format::count}, vendor->differing}};
  section.table.fields = {{"segment", "segment", Format::count},
                          {"start", "start", Format::ticks},
                          {"duration", "cycles", Format::ticks},
                          {"execution", "of execution", Format::ticks},
                          {"op", "op"},
                          {"kind", "kind"},
                          {"unit", "unit"},
                          {"critical", "critical path", Format::ticks},
                          {"partial", "", Format::truth},
                          {"start_cycle", "", Format::count},
                          {"end_cycle", "", Format::count},
                          {"op_id", "", Format::name},
                          {"core", "", Format::count}};
  for (const std::size_t place : longest(*vendor, max)) {
    section.table.rows.push_back(row_of(profile, vendor->segments[place], place + 1, path.begin));
  }
  section.table.row_count = vendor->segments.size();
  section.remarks.push_back(
      "Each moment belongs to one running execution: HMX before HVX before all else, then the "
      "lowest thread, then the earliest start. \"critical path\": the part of the segment during "
      "which its op is on the critical path, on whichever thread.");
  if (vendor->differing > 0) {
    section.remarks.push_back(
        fmt::format("{} {} another number of cycles in the trace's own dominant path.",
                    thousands(vendor->differing),
                    vendor->differing == 1 ? "execution has" : "executions have"));
  }
  return section;
}

}  // namespace npuscope::report
