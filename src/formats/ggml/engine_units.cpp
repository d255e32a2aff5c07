#include "formats/ggml/engine_units.hpp"

#include <fmt/format.h>

#include "ingest/units.hpp"

namespace npuscope::ggml {

Lane lane_of(std::string_view event) {
  if (event.starts_with("HVX_")) return Lane::hvx;
  if (event.starts_with("HMX_")) return Lane::hmx;
  if (event == "DMA") return Lane::dma;
  return event == "FENCE" ? Lane::wait : Lane::set_up;
}

Engine engine_of(Lane lane) {
  return lane == Lane::hvx   ? Engine::hvx
         : lane == Lane::hmx ? Engine::hmx
         : lane == Lane::dma ? Engine::dma
                             : Engine::other;
}

std::vector<SessionUnits> add_units(const Log& log, Profile& profile) {
  std::array<bool, trace_threads> has_hvx{}, has_dma{}, has_set_up{};
  bool has_hmx = false;
  std::vector<Lane> lanes;
  for (const std::string& name : log.event_names) lanes.push_back(lane_of(name));
  for (const Event& event : log.events) {
    const Lane lane = lanes[event.name];
    has_hmx |= lane == Lane::hmx;
    has_hvx[event.thread] |= lane == Lane::hvx;
    has_dma[event.thread] |= lane == Lane::dma;
    has_set_up[event.thread] |= lane == Lane::set_up || lane == Lane::wait;
  }
  std::vector<SessionUnits> all;
  for (std::uint32_t core = 0; core < log.sessions.size(); ++core) {
    SessionUnits units;
    units.session = add_unit(profile, {.core = core,
                                       .engine = Engine::core,
                                       .name = profile.strings.intern(log.sessions[core].name)});
    const auto add = [&](std::string_view name, Lane lane, std::uint32_t thread) {
      return add_unit(profile, {.core = core,
                                .engine = engine_of(lane),
                                .lane = thread,
                                .name = profile.strings.intern(name),
                                .parent = units.session});
    };
    for (std::uint32_t i = 0; i < trace_threads; ++i) {
      auto& of = units.of[i];
      if (has_hvx[i]) {
        of[std::size_t(Lane::hvx)] = add(fmt::format("HVX thread {}", i), Lane::hvx, i);
      }
      if (has_set_up[i]) {
        of[std::size_t(Lane::set_up)] = of[std::size_t(Lane::wait)] =
            add(fmt::format("set-up, thread {}", i), Lane::set_up, i);
      }
    }
    if (has_hmx) {
      const UnitId hmx = add("HMX queue", Lane::hmx, 0);
      for (auto& of_thread : units.of) of_thread[std::size_t(Lane::hmx)] = hmx;
    }
    for (std::uint32_t i = 0; i < trace_threads; ++i) {
      if (!has_dma[i]) continue;
      units.of[i][std::size_t(Lane::dma)] =
          add(fmt::format("DMA in flight, thread {}", i), Lane::dma, i);
    }
    all.push_back(units);
  }
  return all;
}

}  // namespace npuscope::ggml
