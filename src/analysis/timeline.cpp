#include "npuscope/analysis/timeline.hpp"

#include <algorithm>

#include "npuscope/base/parallel.hpp"

namespace npuscope::analysis {

Role role_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::op:
    case SpanKind::transfer:
    case SpanKind::host:
    case SpanKind::slice: return Role::work;
    case SpanKind::sync:
    case SpanKind::barrier:
    case SpanKind::dma_wait: return Role::wait;
    case SpanKind::inference:
    case SpanKind::activation: return Role::frame;
    case SpanKind::async:
    case SpanKind::instant: return Role::overlay;
  }
  return Role::overlay;
}

Domain domain_of(Engine engine) {
  switch (engine) {
    case Engine::hvx:
    case Engine::hmx: return Domain::compute;
    case Engine::dma_issue:
    case Engine::dma: return Domain::movement;
    case Engine::host: return Domain::host;
    default: return Domain::other;
  }
}

Engine engine_of(const Profile& profile, std::size_t row) {
  const std::size_t op = index_of(profile.spans.op[row]);
  if (op < profile.ops.size() && profile.ops[op].engine != Engine::none) {
    return profile.ops[op].engine;
  }
  const std::size_t unit = index_of(profile.spans.unit[row]);
  return unit < profile.units.size() ? profile.units[unit].engine : Engine::none;
}

Domain domain_of(const Profile& profile, std::size_t row) {
  if (profile.spans.kind[row] == SpanKind::transfer) return Domain::movement;
  if (profile.spans.kind[row] == SpanKind::host) return Domain::host;
  return domain_of(engine_of(profile, row));
}

const char* name_of(Domain domain) {
  constexpr const char* names[] = {"compute", "data movement", "host", "other"};
  return names[std::size_t(domain)];
}

const char* name_of(Engine engine) {
  constexpr const char* names[] = {"unit", "device", "core",    "HVX",    "HMX",  "DMA issue",
                                   "DMA",  "host",   "process", "thread", "other"};
  return names[std::size_t(engine)];
}

Interval interval_of(const Spans& spans, std::size_t row) {
  const std::int64_t start = spans.start[row];
  return {start, saturating_add(start, std::max<std::int64_t>(0, spans.duration[row]))};
}

Interval timeline_of(const Profile& profile) {
  const Spans& spans = profile.spans;
  std::optional<Interval> ran, beside;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (spans.kind[row] == SpanKind::activation) continue;
    auto& extent = role_of(spans.kind[row]) == Role::overlay ? beside : ran;
    const Interval interval = interval_of(spans, row);
    if (!extent) extent = interval;
    extent->begin = std::min(extent->begin, interval.begin);
    extent->end = std::max(extent->end, interval.end);
  }
  return ran ? *ran : beside.value_or(Interval{});
}

namespace {

struct Open {
  std::uint32_t row = 0;
  std::int64_t end = 0;
};

// The open slices lie on a stack, the innermost on top. A new one takes its time away from those
// it covers, from the top down: from each as far as that one lasts, and one that it outlasts is
// done. So each slice is pushed and popped once, whatever the overlaps.
void take_time(std::vector<Open>& open, std::uint32_t row, Interval interval,
               std::vector<std::int64_t>& self) {
  while (!open.empty() && open.back().end <= interval.begin) open.pop_back();
  std::int64_t covered = interval.begin;
  while (!open.empty() && covered < interval.end) {
    const std::int64_t until = std::min(open.back().end, interval.end);
    if (until > covered) {
      self[open.back().row] -= until - covered;
      covered = until;
    }
    if (open.back().end > interval.end) break;
    open.pop_back();
  }
  open.push_back({row, interval.end});
}

}  // namespace

std::vector<std::int64_t> self_durations(const Profile& profile, const SpansByUnit& by_unit) {
  const Spans& spans = profile.spans;
  std::vector<std::int64_t> self(spans.size(), 0);
  const auto of_unit = [&](std::size_t unit) {
    std::vector<Open> open;
    for (const std::uint32_t row : by_unit.of(UnitId(std::uint32_t(unit)))) {
      const SpanKind kind = spans.kind[row];
      if (role_of(kind) == Role::frame || kind == SpanKind::instant) continue;
      const Interval interval = interval_of(spans, row);
      self[row] = length_of(interval);
      if (kind == SpanKind::async || kind == SpanKind::transfer || self[row] == 0) continue;
      take_time(open, row, interval, self);
    }
  };
  parallel_for(profile.units.size(), of_unit);
  of_unit(index_of(UnitId::none));
  return self;
}

std::optional<Hertz> rate_during(const Profile& profile, Interval window) {
  const std::size_t base = index_of(profile.base_clock);
  if (base < profile.clocks.size() && profile.clocks[base].rate.value > 0) {
    return profile.clocks[base].rate;
  }
  const Phase* shortest = nullptr;
  for (const Phase& phase : profile.phases) {
    const bool contains =
        phase.start <= window.begin && window.end <= saturating_add(phase.start, phase.duration);
    if (!contains || !(phase.microseconds > 0) || phase.duration <= 0) continue;
    if (shortest == nullptr || phase.duration < shortest->duration) shortest = &phase;
  }
  if (shortest == nullptr) return std::nullopt;
  return Hertz{double(shortest->duration) / shortest->microseconds * 1e6};
}

}  // namespace npuscope::analysis
