#include "npuscope/report/timeline_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "npuscope/analysis/timeline.hpp"
#include "report/document/provenance.hpp"

namespace npuscope::report {
namespace {

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
  constexpr std::size_t most = 10;
  std::string text;
  std::size_t named = 0;
  for (const std::uint32_t number : numbers) {
    if (named++ == most) return text + " and others";
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
    return usage_error("--core {}: the units of this profile are no cores; choose by --unit", core);
  }
  return usage_error("--core {}: no such core; the cores are: {}", core, numbers_text(cores));
}

Status check_inference(const Profile& profile, std::uint32_t inference) {
  if (profile.spans.instance.size() != profile.spans.size()) {
    return usage_error(
        "--inference {}: this profile does not say which inference its spans are of; choose by "
        "--from and --until",
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

Result<Filter> filter_of(const Profile& profile, const TimelinePartText& text) {
  auto filter = make_filter(profile, text.selection, true);
  if (!filter) return filter;
  if (text.core) {
    if (auto known = check_core(profile, *text.core); !known) return tl::unexpected(known.error());
    keep_core(*filter, *text.core);
  }
  if (text.inference) {
    if (auto known = check_inference(profile, *text.inference); !known) {
      return tl::unexpected(known.error());
    }
    filter->instance = text.inference;
  }
  return filter;
}

bool has_something_to_draw(const Spans& spans) {
  return std::any_of(spans.kind.begin(), spans.kind.end(), [](SpanKind kind) {
    const auto role = analysis::role_of(kind);
    return role == analysis::Role::work || role == analysis::Role::wait;
  });
}

}  // namespace

Result<TimelinePart> select_timeline(const Profile& profile, const TimelinePartText& text) {
  const Interval whole = analysis::timeline_of(profile);
  const bool has_spans = has_something_to_draw(profile.spans);
  if (has_spans && length_of(whole) == 0) {
    return input_error(
        "{}: all of its {} spans take no time, so nothing was measured; record it again",
        files_text(profile), profile.spans.size());
  }
  if (!has_spans) {
    return input_error("{}: says of no work or wait when it was; npuscope show tells what it has",
                       files_text(profile));
  }
  const auto filter = filter_of(profile, text);
  if (!filter) return tl::unexpected(filter.error());
  TimelinePart found{.part = std::nullopt, .window = whole, .origin = whole.begin};
  if (filter->keeps_everything()) return found;
  found.part = filtered(profile, *filter);
  if (filter->instance) found.window = analysis::timeline_of(*found.part);
  if (!has_something_to_draw(found.part->spans)) {
    return usage_error("nothing of the timeline is selected; choose a wider part of it");
  }
  // A window is drawn as it was asked for, also where nothing ran.
  const auto is_asked = [](const std::string& time) { return !time.empty(); };
  if (is_asked(text.selection.from)) {
    found.window.begin = std::clamp(filter->window->begin, whole.begin, whole.end);
  }
  if (is_asked(text.selection.until)) {
    found.window.end = std::clamp(filter->window->end, whole.begin, whole.end);
  }
  if (length_of(found.window) == 0) {
    return usage_error("nothing of the timeline is selected; choose a wider part of it");
  }
  return found;
}

}  // namespace npuscope::report
