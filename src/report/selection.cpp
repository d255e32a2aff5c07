#include "report/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <unordered_map>

#include "analysis/ops/row_names.hpp"
#include "base/near_names.hpp"
#include "base/numbers.hpp"
#include "base/try.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "npuscope/analysis/units.hpp"
#include "npuscope/base/pattern.hpp"
#include "report/document/provenance.hpp"

namespace npuscope::report {
namespace {

constexpr std::size_t max_compared = 20'000;  // names, for the one that may be meant

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
  const auto value = take_number<double>(rest);
  if (!value || !std::isfinite(*value)) {
    return usage_error("{} {}: not a time; {}", flag, text, time_advice);
  }
  time.value = *value;
  time.unit = std::string(rest);
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
  TRY_AS(time, parse_time(flag, text));
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
  constexpr double max = 9.2e18;
  const auto whole = std::int64_t(std::clamp(ticks, -max, max));
  return time->absolute ? whole : saturating_add(origin_of(profile), whole);
}

std::function<bool(const Profile&, OpId)> op_filter(Pattern pattern) {
  // Many ops share their texts: each text is matched once.
  const auto known = std::make_shared<std::unordered_map<std::uint32_t, bool>>();
  return [pattern = std::move(pattern), known](const Profile& profile, OpId id) {
    const Op& op = profile.ops[index_of(id)];
    for (const StringId text : {op.name, op.kind, op.node}) {
      const auto [place, is_new] = known->try_emplace(index_of(text), false);
      if (is_new) {
        const std::string_view name = profile.text(text), row = analysis::without_tile(name);
        // A row of several tiles bears the name of their op.
        place->second =
            pattern.found_in(name) || (row.size() != name.size() && pattern.found_in(row));
      }
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

bool is_of_a_core(const Unit& unit) {
  const auto domain = analysis::domain_of(unit.engine);
  return unit.engine == Engine::core || domain == analysis::Domain::compute ||
         domain == analysis::Domain::movement;
}

// "0 to 15", or "1, 3, 7" of which at most ten are named.
std::string numbers_text(const std::set<std::uint32_t>& numbers) {
  if (numbers.empty()) return "none";
  const bool is_range = *numbers.rbegin() - *numbers.begin() + 1 == numbers.size();
  if (is_range && numbers.size() > 2) {
    return fmt::format("{} to {}", *numbers.begin(), *numbers.rbegin());
  }
  constexpr std::size_t max = 10;
  std::string text;
  std::size_t named = 0;
  for (const std::uint32_t number : numbers) {
    if (named++ == max) return text + " and others";
    text += fmt::format("{}{}", text.empty() ? "" : ", ", number);
  }
  return text;
}

Status check_core(const Profile& profile, std::uint32_t core) {
  std::set<std::uint32_t> cores;
  for (const Unit& unit : profile.units) {
    if (is_of_a_core(unit)) cores.insert(unit.core);
  }
  if (cores.contains(core)) return {};
  if (cores.empty()) {
    return usage_error("--core {}: the units of this profile are not cores; choose by --unit",
                       core);
  }
  return usage_error("--core {}: no such core; the cores are: {}", core, numbers_text(cores));
}

Status check_inference(const Profile& profile, std::uint32_t inference) {
  if (profile.spans.instance.size() != profile.spans.size()) {
    return usage_error(
        "--inference {}: this profile does not say which inference its spans are of; choose by "
        "--from and --to",
        inference);
  }
  std::set<std::uint32_t> known;
  std::uint32_t last = every_instance;
  for (const std::uint32_t instance : profile.spans.instance) {
    if (instance != every_instance && (instance != last || known.empty())) known.insert(instance);
    last = instance;
  }
  if (known.contains(inference)) return {};
  return usage_error("--inference {}: no such inference; the inferences are: {}", inference,
                     numbers_text(known));
}

void keep_core(Filter& filter, std::uint32_t core) {
  filter.keeps_unit = [core, also = filter.keeps_unit](const Profile& profile, UnitId id) {
    const Unit& unit = profile.units[index_of(id)];
    return is_of_a_core(unit) && unit.core == core && (!also || also(profile, id));
  };
}

bool has_something_to_draw(const Spans& spans) {
  return std::any_of(spans.kind.begin(), spans.kind.end(), [](SpanKind kind) {
    const auto role = analysis::role_of(kind);
    return role == analysis::Role::work || role == analysis::Role::wait;
  });
}

// Why there is no timeline to choose from.
Status check_timeline(const Profile& profile) {
  const bool has_spans = has_something_to_draw(profile.spans);
  if (has_spans && length_of(analysis::timeline_of(profile)) == 0) {
    return input_error(
        "{}: all of its {} spans take no time, so nothing was measured; record it again",
        files_text(profile), profile.spans.size());
  }
  if (!has_spans) {
    return input_error("{}: holds no times of work or waits; npuscope show lists what it holds",
                       files_text(profile));
  }
  return {};
}

// The window that was asked for, as far as the timeline reaches.
Interval window_of(const Filter& filter, const Selection& selection, const Profile& part,
                   Interval whole) {
  Interval window = filter.instance ? analysis::timeline_of(part) : whole;
  if (!selection.from.empty()) {
    window.begin = std::clamp(filter.window->begin, whole.begin, whole.end);
  }
  if (!selection.until.empty()) {
    window.end = std::clamp(filter.window->end, whole.begin, whole.end);
  }
  return window;
}

bool is_anything_left(const Profile& part, const Profile& whole) {
  const auto timed = [](const Profile& profile) {
    return profile.spans.size() + profile.counters.size() + profile.phases.size();
  };
  const bool has_numbers = std::ranges::any_of(part.measures, [](const Measure& measure) {
    return measure.subject == Measure::Subject::op;
  });
  if (whole.spans.size() > 0) return part.spans.size() > 0 || has_numbers;
  return timed(whole) > 0 ? timed(part) > 0 : part.ops.size() + part.units.size() > 0;
}

}  // namespace

std::string selection_text(const Selection& selection) {
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
  if (!selection.from.empty()) add("from " + selection.from);
  if (!selection.until.empty()) add("to " + selection.until);
  if (!selection.unit.empty()) add("units matching '" + selection.unit + "'");
  if (!selection.op.empty()) add("ops matching '" + selection.op + "'");
  if (selection.core) add(fmt::format("core {}", *selection.core));
  if (selection.inference) add(fmt::format("inference {}", *selection.inference));
  return text;
}

Result<double> seconds_in_text(const std::string& flag, const std::string& text) {
  TRY_AS(time, parse_time(flag, text));
  if (time->absolute || !time->unit.ends_with('s') || time->unit == "ticks") {
    return usage_error("{} {}: not a time in seconds; write it like 12.5ms, 300us or 1s", flag,
                       text);
  }
  return time->value * seconds_in(time->unit);
}

bool looks_like_time(std::string_view text) {
  return !text.empty() && std::string_view("0123456789.@-+").find(text[0]) != text.npos;
}

Result<Filter> make_filter(const Profile& profile, const Selection& text, bool cut) {
  Filter filter;
  filter.cut = cut;
  if (!text.from.empty() || !text.until.empty()) {
    Interval window{std::numeric_limits<std::int64_t>::min(),
                    std::numeric_limits<std::int64_t>::max()};
    if (!text.from.empty()) {
      TRY_AS(from, ticks_of(profile, "--from", text.from));
      window.begin = *from;
    }
    if (!text.until.empty()) {
      TRY_AS(until, ticks_of(profile, "--to", text.until));
      window.end = *until;
    }
    if (window.begin >= window.end) {
      return usage_error("--from {} --to {}: the window is empty; end it after its begin",
                         text.from, text.until);
    }
    filter.window = window;
  }
  if (!text.unit.empty()) {
    TRY_AS(pattern, Pattern::compile("--unit", text.unit));
    filter.keeps_unit = [pattern = *pattern](const Profile& whole, UnitId unit) {
      return pattern.found_in(path_of(whole, unit));
    };
    if (!any_of<UnitId>(profile, profile.units.size(), filter.keeps_unit)) {
      std::vector<std::string> paths;
      for (std::uint32_t i = 0; i < std::min<std::size_t>(profile.units.size(), max_compared);
           ++i) {
        paths.push_back(path_of(profile, UnitId(i)));
      }
      return usage_error("--unit '{}': no unit's name matches{}; npuscope units lists them",
                         text.unit, did_you_mean({paths.begin(), paths.end()}, text.unit));
    }
  }
  if (!text.op.empty()) {
    TRY_AS(pattern, Pattern::compile("--op", text.op));
    filter.keeps_op = op_filter(std::move(*pattern));
    if (!any_of<OpId>(profile, profile.ops.size(), filter.keeps_op)) {
      std::vector<std::string_view> names;
      for (std::uint32_t i = 0; i < std::min<std::size_t>(profile.ops.size(), max_compared); ++i) {
        const auto& op = profile.ops[i];
        for (const StringId name : {op.name, op.node, op.kind}) names.push_back(profile.text(name));
      }
      return usage_error(
          "--op '{}': no op's name, kind or node matches{}; npuscope ops --by name lists them",
          text.op, did_you_mean(names, text.op));
    }
  }
  if (text.core) {
    TRY(check_core(profile, *text.core));
    keep_core(filter, *text.core);
  }
  if (text.inference) {
    TRY(check_inference(profile, *text.inference));
    filter.instance = text.inference;
  }
  return filter;
}

Result<ProfilePart> select(Profile profile, const Selection& selection,
                           const SelectOptions& options) {
  if (options.needs_timeline || selection.core || selection.inference) {
    TRY(check_timeline(profile));
  }
  if (selection.empty() && !options.needs_timeline)
    return ProfilePart{std::move(profile), {}, 0, ""};
  const Interval whole = analysis::timeline_of(profile);
  if (selection.empty()) return ProfilePart{std::move(profile), whole, whole.begin, ""};
  TRY_AS(filter, make_filter(profile, selection, options.cut));
  ProfilePart part{filtered(profile, *filter), whole, whole.begin, selection_text(selection)};
  part.window = window_of(*filter, selection, part.profile, whole);
  const bool draws = has_something_to_draw(part.profile.spans) && length_of(part.window) > 0;
  if (options.needs_timeline && !draws) {
    return usage_error("nothing of the timeline is selected; choose a wider part of it");
  }
  if (!is_anything_left(part.profile, profile)) {
    return usage_error(
        "nothing of {} spans, {} ops and {} units is selected; widen --from, --to, --unit or "
        "--op",
        profile.spans.size(), profile.ops.size(), profile.units.size());
  }
  return part;
}

}  // namespace npuscope::report
