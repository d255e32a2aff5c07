#include "npuscope/report/selection.hpp"

#include <charconv>
#include <cmath>
#include <memory>
#include <unordered_map>

#include "npuscope/analysis/timeline.hpp"
#include "npuscope/analysis/units.hpp"
#include "npuscope/base/pattern.hpp"

namespace npuscope::report {
namespace {

struct Time {
  bool absolute = false;
  double value = 0;
  std::string unit;
};

constexpr const char* time_advice = "write it like 12.5ms, 300us, 1000cyc or 20ticks";

Result<Time> parse_time(const std::string& flag, const std::string& text) {
  Time time;
  std::string_view rest = text;
  if (rest.starts_with('@')) {
    time.absolute = true;
    rest.remove_prefix(1);
  }
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), time.value);
  time.unit = std::string(rest.substr(std::size_t(end - rest.data())));
  if (error != std::errc{} || !std::isfinite(time.value)) {
    return usage_error("{} {}: not a time; {}", flag, text, time_advice);
  }
  if (time.unit.empty() && time.value == 0) time.unit = "ticks";
  if (time.unit == "cycles") time.unit = "cyc";
  if (time.unit == "tick") time.unit = "ticks";
  if (time.unit == "µs") time.unit = "us";
  for (const char* known : {"ns", "us", "ms", "s", "cyc", "ticks"}) {
    if (time.unit == known) return time;
  }
  return usage_error("{} {}: a time needs a unit; {}", flag, text, time_advice);
}

double seconds_in(const std::string& unit) {
  return unit == "ns" ? 1e-9 : unit == "us" ? 1e-6 : unit == "ms" ? 1e-3 : 1;
}

// Where times count from.
std::int64_t origin_of(const Profile& profile) {
  if (profile.spans.size() > 0) return analysis::timeline_of(profile).begin;
  std::optional<std::int64_t> first;
  const auto take = [&](std::int64_t time) { first = std::min(first.value_or(time), time); };
  for (const std::int64_t time : profile.counters.time) take(time);
  for (const Phase& phase : profile.phases) take(phase.start);
  return first.value_or(0);
}

Result<std::int64_t> ticks_of(const Profile& profile, const std::string& flag,
                              const std::string& text) {
  const auto time = parse_time(flag, text);
  if (!time) return tl::unexpected(time.error());
  const std::size_t base = index_of(profile.base_clock);
  const Clock clock = base < profile.clocks.size() ? profile.clocks[base] : Clock{};
  double ticks = time->value;
  if (time->unit == "cyc" && clock.kind != ClockKind::unit_cycles) {
    return usage_error("{} {}: this profile's times are not in cycles; write it in us or ticks",
                       flag, text);
  }
  if (time->unit != "cyc" && time->unit != "ticks") {
    const auto rate = analysis::rate_during(profile, analysis::timeline_of(profile));
    if (!rate) {
      return usage_error("{} {}: the rate of this profile's clock is unknown; write it in {}", flag,
                         text, clock.kind == ClockKind::unit_cycles ? "cyc" : "ticks");
    }
    ticks = std::round(time->value * seconds_in(time->unit) * rate->value);
  }
  constexpr double most = 9.2e18;
  const auto whole = std::int64_t(std::clamp(ticks, -most, most));
  return time->absolute ? whole : saturating_add(origin_of(profile), whole);
}

std::function<bool(const Profile&, OpId)> op_filter(Pattern pattern) {
  // Many ops share their texts: each text is matched once.
  const auto known = std::make_shared<std::unordered_map<std::uint32_t, bool>>();
  return [pattern = std::move(pattern), known](const Profile& profile, OpId id) {
    const Op& op = profile.ops[index_of(id)];
    for (const StringId text : {op.name, op.kind, op.node}) {
      const auto [place, is_new] = known->try_emplace(index_of(text), false);
      if (is_new) place->second = pattern.found_in(profile.text(text));
      if (place->second) return true;
    }
    return false;
  };
}

template <class Id>
bool any_of(const Profile& profile, std::size_t count,
            const std::function<bool(const Profile&, Id)>& keeps) {
  for (std::uint32_t i = 0; i < count; ++i) {
    if (keeps(profile, Id{i})) return true;
  }
  return false;
}

}  // namespace

std::string selection_text(const SelectionText& selection) {
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
  if (!selection.from.empty()) add("from " + selection.from);
  if (!selection.until.empty()) add("until " + selection.until);
  if (!selection.unit.empty()) add("units matching '" + selection.unit + "'");
  if (!selection.op.empty()) add("ops matching '" + selection.op + "'");
  return text;
}

bool looks_like_time(std::string_view text) {
  return !text.empty() && std::string_view("0123456789.@-+").find(text[0]) != text.npos;
}

Result<Filter> make_filter(const Profile& profile, const SelectionText& text, bool cut) {
  Filter filter;
  filter.cut = cut;
  if (!text.from.empty() || !text.until.empty()) {
    Interval window{std::numeric_limits<std::int64_t>::min(),
                    std::numeric_limits<std::int64_t>::max()};
    if (!text.from.empty()) {
      const auto from = ticks_of(profile, "--from", text.from);
      if (!from) return tl::unexpected(from.error());
      window.begin = *from;
    }
    if (!text.until.empty()) {
      const auto until = ticks_of(profile, "--until", text.until);
      if (!until) return tl::unexpected(until.error());
      window.end = *until;
    }
    if (window.begin >= window.end) {
      return usage_error("--from {} --until {}: the window is empty; end it after its begin",
                         text.from, text.until);
    }
    filter.window = window;
  }
  if (!text.unit.empty()) {
    auto pattern = Pattern::compile("--unit", text.unit);
    if (!pattern) return tl::unexpected(pattern.error());
    filter.keeps_unit = [pattern = *pattern](const Profile& whole, UnitId unit) {
      return pattern.found_in(path_of(whole, unit));
    };
    if (!any_of<UnitId>(profile, profile.units.size(), filter.keeps_unit)) {
      return usage_error("--unit '{}': no unit's name matches; npuscope show lists them",
                         text.unit);
    }
  }
  if (!text.op.empty()) {
    auto pattern = Pattern::compile("--op", text.op);
    if (!pattern) return tl::unexpected(pattern.error());
    filter.keeps_op = op_filter(std::move(*pattern));
    if (!any_of<OpId>(profile, profile.ops.size(), filter.keeps_op)) {
      return usage_error(
          "--op '{}': no op's name, kind or node matches; npuscope ops --by name lists them",
          text.op);
    }
  }
  return filter;
}

Result<Profile> select(const Profile& profile, const SelectionText& text, bool cut) {
  const auto filter = make_filter(profile, text, cut);
  if (!filter) return tl::unexpected(filter.error());
  Profile part = filtered(profile, *filter);
  const bool has_rows = part.spans.size() + part.counters.size() + part.phases.size() > 0;
  const bool had_times = profile.spans.size() + profile.counters.size() + profile.phases.size() > 0;
  const bool is_left = profile.spans.size() > 0 ? part.spans.size() > 0
                       : had_times              ? has_rows
                                                : part.ops.size() + part.units.size() > 0;
  if (!is_left) {
    return usage_error(
        "nothing of {} spans, {} ops and {} units is selected; widen --from, --until, --unit or "
        "--op",
        profile.spans.size(), profile.ops.size(), profile.units.size());
  }
  return part;
}

}  // namespace npuscope::report
