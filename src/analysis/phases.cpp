#include "npuscope/analysis/phases.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace npuscope::analysis {
namespace {

struct Nested {
  std::uint32_t depth = 0;
  double self_ticks = 0;
  double self_microseconds = -1;  // negative: unknown
};

// Of each phase the one around it, or no_phase. Where no file says so, phases of one inference and
// unit nest by time; those that overlap without nesting stand beside each other.
std::vector<std::uint32_t> parents_of(const std::vector<Phase>& phases,
                                      const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> parents(phases.size(), no_phase);
  std::vector<std::uint32_t> open;
  const auto end_of = [&](std::uint32_t i) {
    return saturating_add(phases[i].start, std::max<std::int64_t>(0, phases[i].duration));
  };
  for (const std::uint32_t i : order) {
    const Phase& phase = phases[i];
    if (phase.parent != no_phase) {
      if (phase.parent < phases.size() && phase.parent != i) parents[i] = phase.parent;
      continue;
    }
    while (!open.empty() &&
           (phases[open.back()].instance != phase.instance ||
            phases[open.back()].unit != phase.unit || end_of(open.back()) < end_of(i))) {
      open.pop_back();
    }
    if (!open.empty()) parents[i] = open.back();
    open.push_back(i);
  }
  return parents;
}

// Sorts `order` so that each phase is followed by what is in it. Parents that go round in a circle
// are cut where the walk comes to them.
std::vector<Nested> nest(const std::vector<Phase>& phases, std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> parents = parents_of(phases, order);
  std::vector<std::vector<std::uint32_t>> inner(phases.size());
  std::vector<std::uint32_t> starts;
  for (const std::uint32_t i : order) {
    if (parents[i] == no_phase) starts.push_back(i);
    if (parents[i] != no_phase) inner[parents[i]].push_back(i);
  }
  starts.insert(starts.end(), order.begin(), order.end());  // of circles; all others are seen then
  order.clear();
  std::vector<Nested> nested(phases.size());
  std::vector<bool> seen(phases.size(), false);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open;  // with the one around it
  for (const std::uint32_t start : starts) {
    open.push_back({start, no_phase});
    while (!open.empty()) {
      const auto [i, around] = open.back();
      open.pop_back();
      if (seen[i]) continue;
      seen[i] = true;
      order.push_back(i);
      const Phase& phase = phases[i];
      nested[i] = {0, double(phase.duration), phase.microseconds};
      if (around != no_phase) {
        Nested& outer = nested[around];
        nested[i].depth = outer.depth + 1;
        outer.self_ticks -= double(phase.duration);
        const bool timed = outer.self_microseconds >= 0 && phase.microseconds >= 0;
        outer.self_microseconds =
            timed ? std::max(0.0, outer.self_microseconds - phase.microseconds) : -1;
      }
      for (auto part = inner[i].rbegin(); part != inner[i].rend(); ++part) {
        open.push_back({*part, i});
      }
    }
  }
  return nested;
}

struct Samples {
  std::uint32_t depth = 0;
  bool repeats = false;
  std::uint32_t last = no_phase;
  std::vector<double> ticks, microseconds, self_ticks, self_microseconds, hertz;
};

}  // namespace

std::vector<PhaseRow> analyse_phases(const Profile& profile) {
  const std::vector<Phase>& phases = profile.phases;
  std::vector<std::uint32_t> order(phases.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Phase &first = phases[a], &second = phases[b];
    if (first.instance != second.instance) return first.instance < second.instance;
    if (first.unit != second.unit) return first.unit < second.unit;
    if (first.start != second.start) return first.start < second.start;
    return first.duration > second.duration;
  });
  const auto nested = nest(phases, order);
  std::map<StringId, std::size_t> place;
  std::vector<std::pair<StringId, Samples>> rows;
  for (const std::uint32_t i : order) {
    const auto [found, is_new] = place.try_emplace(phases[i].name, rows.size());
    if (is_new) rows.emplace_back(phases[i].name, Samples{}).second.depth = nested[i].depth;
    Samples& samples = rows[found->second].second;
    if (samples.last != no_phase) {
      const Phase& last = phases[samples.last];
      samples.repeats |= last.instance == phases[i].instance && last.unit == phases[i].unit;
    }
    samples.last = i;
    samples.ticks.push_back(double(phases[i].duration));
    samples.self_ticks.push_back(nested[i].self_ticks);
    if (phases[i].microseconds >= 0) samples.microseconds.push_back(phases[i].microseconds);
    if (nested[i].self_microseconds >= 0) {
      samples.self_microseconds.push_back(nested[i].self_microseconds);
    }
    if (phases[i].microseconds > 0) {
      samples.hertz.push_back(double(phases[i].duration) / phases[i].microseconds * 1e6);
    }
  }
  std::vector<PhaseRow> table;
  for (const auto& [name, samples] : rows) {
    table.push_back({name, samples.depth, samples.repeats, spread_of(samples.ticks),
                     spread_of(samples.microseconds), spread_of(samples.self_ticks),
                     spread_of(samples.self_microseconds), spread_of(samples.hertz)});
  }
  return table;
}

}  // namespace npuscope::analysis
