#include "npuscope/profile/filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "profile/filter_parts.hpp"

namespace npuscope::filter_parts {

bool Selection::in_window(std::int64_t start, std::int64_t duration) const {
  if (!filter_.window) return true;
  const Interval& window = *filter_.window;
  const std::int64_t end = saturating_add(start, std::max<std::int64_t>(0, duration));
  const bool is_moment = end == start;
  return start < window.end && (end > window.begin || (is_moment && start == window.begin));
}

// Whether it ran in the window on a unit that is kept, whatever it is.
bool Selection::ran_beside(std::size_t row) const {
  const Spans& spans = profile_.spans;
  return in_window(spans.start[row], spans.duration[row]) && unit_allowed(spans.unit[row]);
}

Interval Selection::cut_interval(std::size_t row) const {
  const Interval whole = interval_of(profile_.spans, row);
  return filter_.cut && filter_.window ? intersection_of(whole, *filter_.window) : whole;
}

void Selection::ask() {
  if (filter_.keeps_unit) {
    for (std::uint32_t unit = 0; unit < profile_.units.size(); ++unit) {
      unit_allowed_.push_back(filter_.keeps_unit(profile_, UnitId(unit)));
    }
    if (unit_allowed_.empty()) unit_allowed_.push_back(false);
  }
  if (filter_.keeps_op) {
    for (std::uint32_t op = 0; op < profile_.ops.size(); ++op) {
      op_allowed_.push_back(filter_.keeps_op(profile_, OpId(op)));
    }
    if (op_allowed_.empty()) op_allowed_.push_back(false);
  }
}

void Selection::choose_spans() {
  const Spans& spans = profile_.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (!ran_beside(row)) continue;
    const bool stays = op_allowed(spans.op[row]) && instance_allowed(row);
    (stays ? span_rows_ : rows_beside_).push_back(std::uint32_t(row));
  }
  if (filter_.cut && filter_.window) order_equals();
  span_number_.assign(spans.size(), gone);
  for (std::uint32_t i = 0; i < span_rows_.size(); ++i) span_number_[span_rows_[i]] = i;
}

// What encloses another is cut to the same interval as this where both reach out of the window;
// then their order alone says which is inside.
void Selection::order_equals() {
  const Spans& spans = profile_.spans;
  std::vector<std::uint32_t> places;
  for (std::uint32_t place = 0; place < span_rows_.size(); ++place) {
    const Interval left = cut_interval(span_rows_[place]);
    const bool at_edge = left.begin == filter_.window->begin || left.end == filter_.window->end;
    if (at_edge) places.push_back(place);
  }
  const auto group = [&](std::uint32_t row) { return index_of(spans.unit[row]); };
  const auto order = [&](std::uint32_t row) {
    return std::tuple(spans.start[row], ~spans.duration[row], row);
  };
  put_enclosing_first(span_rows_, std::move(places), group, order);
}

// Phases nest by their times as spans do.
std::vector<std::uint32_t> Selection::phases_left() const {
  const std::vector<Phase>& phases = profile_.phases;
  std::vector<std::uint32_t> left, places;
  const bool cuts = filter_.cut && filter_.window;
  for (std::uint32_t i = 0; i < phases.size(); ++i) {
    const Phase& phase = phases[i];
    const bool stays = in_window(phase.start, phase.duration) &&
                       (!filter_.instance || phase.instance == *filter_.instance);
    if (!stays) continue;
    const bool at_edge =
        cuts && (phase.start <= filter_.window->begin ||
                 saturating_add(phase.start, phase.duration) >= filter_.window->end);
    if (at_edge) places.push_back(std::uint32_t(left.size()));
    left.push_back(i);
  }
  const auto group = [&](std::uint32_t i) {
    return std::pair(phases[i].instance, index_of(phases[i].unit));
  };
  const auto order = [&](std::uint32_t i) {
    return std::tuple(phases[i].start, ~phases[i].duration, i);
  };
  put_enclosing_first(left, std::move(places), group, order);
  return left;
}

// A sample holds until the next of its series, so the last one before the window is needed too.
void Selection::choose_samples() {
  const Counters& counters = profile_.counters;
  std::vector<std::uint32_t> last_before(counters.series.size(), gone);
  std::vector<bool> stays(counters.size(), false);
  for (std::size_t i = 0; i < counters.size(); ++i) {
    const std::uint32_t series = counters.of[i];
    if (series >= counters.series.size()) continue;
    const UnitId unit = counters.series[series].unit;
    if (unit != UnitId::none && !unit_allowed(unit)) continue;
    if (unit == UnitId::none && !unit_allowed_.empty()) continue;
    if (filter_.window && counters.time[i] < filter_.window->begin) {
      std::uint32_t& last = last_before[series];
      if (last == gone || counters.time[last] <= counters.time[i]) last = std::uint32_t(i);
    } else if (!filter_.window || counters.time[i] < filter_.window->end) {
      stays[i] = true;
    }
  }
  for (const std::uint32_t row : last_before) {
    if (row != gone) stays[row] = true;
  }
  for (std::size_t i = 0; i < stays.size(); ++i) {
    if (stays[i]) sample_rows_.push_back(std::uint32_t(i));
  }
}

void Selection::choose_units() {
  std::vector<bool> stays(profile_.units.size(), false);
  const auto keep = [&](UnitId unit) {  // and its parents; a ring of them ends where it began
    while (index_of(unit) < stays.size() && !stays[index_of(unit)]) {
      stays[index_of(unit)] = true;
      unit = profile_.units[index_of(unit)].parent;
    }
  };
  for (const std::uint32_t row : span_rows_) keep(profile_.spans.unit[row]);
  for (const std::uint32_t row : sample_rows_) {
    keep(profile_.counters.series[profile_.counters.of[row]].unit);
  }
  if (profile_.spans.size() == 0) {
    for (std::uint32_t unit = 0; unit < stays.size(); ++unit) {
      if (unit_allowed(UnitId(unit))) keep(UnitId(unit));
    }
  }
  unit_number_ = numbered(stays);
}

void Selection::choose_ops() {
  std::vector<bool> stays(profile_.ops.size(), false);
  for (const std::uint32_t row : span_rows_) {
    const std::uint32_t op = index_of(profile_.spans.op[row]);
    if (op < stays.size()) stays[op] = true;
  }
  // What never ran as a span has numbers only, which are of no moment, unit or inference.
  const bool by_name_only = filter_.keeps_op && !filter_.window && !filter_.keeps_unit;
  if (profile_.spans.size() == 0 || (by_name_only && !filter_.instance)) {
    std::vector<bool> has_spans(profile_.ops.size(), false);
    for (const OpId op : profile_.spans.op) {
      if (index_of(op) < has_spans.size()) has_spans[index_of(op)] = true;
    }
    for (std::uint32_t op = 0; op < stays.size(); ++op) {
      if (!has_spans[op]) stays[op] = op_allowed(OpId(op));
    }
  }
  op_number_ = numbered(stays);
}

// Of a run whose first inference is cold one inference is either.
Provenance::Temperature Selection::temperature_of_part() const {
  using Temperature = Provenance::Temperature;
  const Temperature whole = profile_.provenance.temperature;
  const auto& instances = profile_.spans.instance;
  if (whole != Temperature::cold_then_warm || !filter_.instance || instances.empty()) return whole;
  const bool is_first = *filter_.instance == *std::ranges::min_element(instances);
  return is_first ? Temperature::cold : Temperature::warm;
}

Profile Selection::make() {
  ask();
  choose_spans();
  choose_samples();
  choose_units();
  choose_ops();
  Profile part;
  part.provenance = profile_.provenance;
  part.provenance.temperature = temperature_of_part();
  part.strings = profile_.strings;
  part.clocks = profile_.clocks;
  part.base_clock = profile_.base_clock;
  part.notes = profile_.notes;
  copy_spans(part);
  copy_units_and_ops(part);
  copy_phases(part);
  copy_measures(part);
  copy_relations(part);
  copy_counters(part);
  copy_tensors(part);
  part.source_operators = profile_.source_operators;
  std::string message =
      fmt::format("filtered: {} of {} spans kept", span_rows_.size(), profile_.spans.size());
  if (cut_ > 0) {
    message += fmt::format(
        ", {} of them cut at the window: what they moved and counted is known of the whole only "
        "and "
        "left out",
        cut_);
  }
  if (left_out_ + profile_.checks.size() > 0) {
    message += "; numbers and checks of the whole run are left out";
  }
  part.notes.push_back({Severity::info, "", 0, std::move(message), 1});
  return part;
}

}  // namespace npuscope::filter_parts

namespace npuscope {

Profile filtered(const Profile& profile, const Filter& filter) {
  if (filter.keeps_everything()) return profile;
  return filter_parts::Selection(profile, filter).make();
}

}  // namespace npuscope
