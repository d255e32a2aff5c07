#include "formats/chrome/write/write_phases.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "profile/own_traces.hpp"

namespace npuscope::chrome {
namespace {

std::int64_t end_of(const Phase& phase) {
  return saturating_add(phase.start, std::max<std::int64_t>(0, phase.duration));
}

}  // namespace

// Outer phases before those inside; those that overlap without nesting on tracks of their own.
PhaseWriter::PhaseWriter(const Profile& profile, Layout& layout, EventOutput& out)
    : profile_(profile), out_(out) {
  const auto& phases = profile_.phases;
  if (phases.empty()) return;
  order_.resize(phases.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) {
    if (phases[a].start != phases[b].start) return phases[a].start < phases[b].start;
    return phases[a].duration > phases[b].duration;
  });
  LanePlacer lanes;
  for (const std::uint32_t i : order_) {
    lane_.push_back(lanes.place({phases[i].start, end_of(phases[i])}));
  }
  first_track_ = add_process(layout, "phases", lanes.count());
  for (const Phase& phase : phases) any_parent_ |= phase.parent != no_phase;
}

void PhaseWriter::write() {
  for (std::size_t i = 0; i < order_.size(); ++i) {
    write_phase(order_[i], first_track_ + lane_[i]);
  }
}

void PhaseWriter::write_phase(std::uint32_t number, std::uint32_t track) {
  const Phase& phase = profile_.phases[number];
  TraceEvent event = out_.event(TracePhase::complete, out_.text(phase.name), track);
  out_.set_times(event, {phase.start, end_of(phase)});
  event.category = "phase";
  out_.events.add(event, [&] {
    JsonWriter<TextOutput>& json = out_.json;
    json.member("inference", phase.instance);
    if (phase.microseconds >= 0 && std::isfinite(phase.microseconds)) {
      json.member("microseconds", phase.microseconds);
    }
    if (any_parent_) json.member("phase", number);
    if (const auto parent = parent_number(phase)) json.member("parent", *parent);
  });
}

}  // namespace npuscope::chrome
