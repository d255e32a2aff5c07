#include "npuscope/analysis/roofline.hpp"

#include <algorithm>
#include <string_view>

namespace npuscope::analysis {

const char* name_of(Precision precision) {
  constexpr const char* names[] = {"int8", "fp16", "fp32"};
  return names[std::size_t(precision)];
}

const char* name_of(Resource resource) {
  constexpr const char* names[] = {"MACs", "HMX busy", "HVX busy", "DDR", "VTCM", "dispatch"};
  return names[std::size_t(resource)];
}

const char* name_of(RooflineVerdict verdict) {
  constexpr const char* names[] = {"unknown", "compute", "memory", "latency", "dispatch"};
  return names[std::size_t(verdict)];
}

Precision precision_of(std::string_view types) {
  const auto has = [&](std::string_view word) { return types.find(word) != types.npos; };
  if (has("loat16") || has("FLOAT_16") || has("fp16")) return Precision::fp16;
  if (has("loat32") || has("FLOAT_32") || types == "float" || types.starts_with("float,")) {
    return Precision::fp32;
  }
  const bool eight = has("nt8") || has("i8") || has("FIXED_8") || has("_POINT_8");
  return eight ? Precision::int8 : Precision::fp16;
}

Roofs make_roofs(const Peaks& peaks, Hertz rate, bool counts_cycles, std::uint32_t cores) {
  Roofs roofs;
  roofs.cores = std::max<std::uint32_t>(cores, 1);
  if (rate.value > 0) roofs.seconds_per_tick = 1 / rate.value;
  const auto per_tick = [&](std::optional<double> per_second) -> std::optional<double> {
    if (!per_second || !(*per_second > 0) || !(rate.value > 0)) return std::nullopt;
    return *per_second / rate.value;
  };
  const double several = roofs.cores;
  auto ddr = peaks.ddr_bytes_per_s;
  if (ddr && peaks.ddr_bytes_per_s_per_core) {
    const double of_cores = *peaks.ddr_bytes_per_s_per_core * several;
    roofs.ddr_is_of_cores = of_cores < *ddr;
    ddr = std::min(*ddr, of_cores);
  }
  roofs.ddr_bytes_per_tick = per_tick(ddr);
  if (peaks.vtcm_bytes_per_s) {
    roofs.vtcm_bytes_per_tick = per_tick(*peaks.vtcm_bytes_per_s * several);
  }
  std::optional<double> cycles_per_tick;
  if (counts_cycles) {
    cycles_per_tick = 1;
  } else if (rate.value > 0 && peaks.core_hz && *peaks.core_hz > 0) {
    cycles_per_tick = *peaks.core_hz / rate.value;
  }
  for (std::size_t i = 0; i < precision_count; ++i) {
    if (peaks.macs_per_s) {
      roofs.macs_per_tick[i] = per_tick(peaks.macs_per_s);
    } else if (cycles_per_tick && peaks.macs_per_cycle[i] && *peaks.macs_per_cycle[i] > 0) {
      roofs.macs_per_tick[i] = *peaks.macs_per_cycle[i] * *cycles_per_tick * several;
    }
  }
  const auto ticks = [&](std::optional<double> cycles) -> std::optional<double> {
    if (!cycles || !cycles_per_tick) return std::nullopt;
    return *cycles / *cycles_per_tick;
  };
  roofs.hvx_dispatch_ticks = ticks(peaks.hvx_dispatch_cycles);
  roofs.hmx_dispatch_ticks = ticks(peaks.hmx_dispatch_cycles);
  roofs.dma_dispatch_ticks = ticks(peaks.dma_dispatch_cycles);
  return roofs;
}

namespace {

// Of the kernels in the work: where the types differ, each at its own peak.
std::optional<double> ticks_of_macs(const Roofs& roofs, const Work& work) {
  if (!work.macs_known) return std::nullopt;
  double ticks = 0;
  for (std::size_t i = 0; i < precision_count; ++i) {
    if (work.macs[i] <= 0) continue;
    if (!roofs.macs_per_tick[i]) return std::nullopt;
    ticks += work.macs[i] / *roofs.macs_per_tick[i];
  }
  return ticks;
}

bool is_occupancy(Resource resource) {
  return resource == Resource::hmx || resource == Resource::hvx;
}

std::optional<Resource> largest_of(const Placement& placement, bool occupancies) {
  std::optional<Resource> largest;
  for (std::size_t i = 0; i < resource_count; ++i) {
    const auto resource = Resource(i);
    if (!placement.share[i] || is_occupancy(resource) != occupancies) continue;
    if (!largest || *placement.share[i] > *placement.of(*largest)) largest = resource;
  }
  return largest;
}

RooflineVerdict verdict_of(Resource resource) {
  switch (resource) {
    case Resource::macs:
    case Resource::hmx:
    case Resource::hvx: return RooflineVerdict::compute;
    case Resource::ddr:
    case Resource::vtcm: return RooflineVerdict::memory;
    case Resource::dispatch: return RooflineVerdict::dispatch;
  }
  return RooflineVerdict::unknown;
}

// A thread that waits for memory inside its kernel is busy too, so a peak that is reached counts
// before threads that are at work.
void decide(Placement& placement, bool macs_matter, bool mostly_moves) {
  const auto roof = largest_of(placement, false), busy = largest_of(placement, true);
  if (roof && *placement.of(*roof) > impossible_share) {
    placement.largest = roof;
    return;
  }
  for (const auto& resource : {roof, busy}) {
    if (!resource || *placement.of(*resource) < bound_share) continue;
    placement.largest = resource;
    placement.verdict = verdict_of(*resource);
    return;
  }
  const double with_others = placement.ddr_share_of_all.value_or(0);
  if (roof == Resource::ddr && mostly_moves && with_others >= bound_share &&
      with_others <= impossible_share) {
    placement.largest = roof;
    placement.verdict = RooflineVerdict::memory;
    return;
  }
  placement.largest = roof ? roof : busy;
  if (roof && busy && *placement.of(*busy) > *placement.of(*roof)) placement.largest = busy;
  // That none of those known is busy says nothing as long as one that matters is not known.
  const bool known = placement.of(Resource::ddr) &&
                     (!macs_matter || placement.of(Resource::macs) || placement.of(Resource::hmx));
  if (known) placement.verdict = RooflineVerdict::latency;
}

}  // namespace

bool Work::mostly_moves() const { return ticks > 0 && moving_ticks >= bound_share * ticks; }

Placement place_under(const Roofs& roofs, const Work& work) {
  Placement placement;
  if (!(work.ticks > 0)) return placement;
  const auto put = [&](Resource resource, double ticks) {
    placement.share[std::size_t(resource)] = ticks / work.ticks;
  };
  const bool on_hmx = work.hmx_ticks > 0;
  const auto macs = ticks_of_macs(roofs, work);
  if (macs && (*macs > 0 || on_hmx)) put(Resource::macs, *macs);
  if (on_hmx && !macs && work.hmx_units > 0) put(Resource::hmx, work.hmx_ticks / work.hmx_units);
  if (work.hvx_ticks > 0 && work.hvx_units > 0) {
    put(Resource::hvx, work.hvx_ticks / work.hvx_units);
  }
  if (work.ddr_bytes && roofs.ddr_bytes_per_tick) {
    const double share = work.ticks / std::max(work.ticks, work.ddr_ticks);
    put(Resource::ddr, *work.ddr_bytes / *roofs.ddr_bytes_per_tick * share);
    if (work.ddr_bytes_of_all && *work.ddr_bytes > 0) {
      const double meanwhile = std::max(work.ticks, work.ddr_ticks);
      const double drawn = *work.ddr_bytes_of_all / *roofs.ddr_bytes_per_tick / meanwhile;
      // Each transfer's bytes count evenly over its span, so several that overlap in part come to
      // a little more than the DDR moved meanwhile.
      placement.ddr_share_of_all = drawn <= impossible_share ? std::min(drawn, 1.0) : drawn;
    }
  }
  if (work.vtcm_bytes && roofs.vtcm_bytes_per_tick) {
    put(Resource::vtcm, *work.vtcm_bytes / *roofs.vtcm_bytes_per_tick);
  }
  if (work.dispatch_ticks > 0) put(Resource::dispatch, work.dispatch_ticks);
  decide(placement, !work.macs_known || on_hmx || work.all_macs() > 0, work.mostly_moves());

  const double all = work.all_macs();
  if (work.macs_known && all > 0 && work.ddr_bytes && *work.ddr_bytes > 0) {
    placement.intensity = all / *work.ddr_bytes;
  }
  if (macs && *macs > 0 && roofs.ddr_bytes_per_tick) {
    placement.ridge = all / *macs / *roofs.ddr_bytes_per_tick;
  }
  const double seconds = work.ticks * roofs.seconds_per_tick;
  if (seconds > 0) {
    const double ddr_seconds = std::max(work.ticks, work.ddr_ticks) * roofs.seconds_per_tick;
    if (work.ddr_bytes) placement.ddr_bytes_per_s = *work.ddr_bytes / ddr_seconds;
    if (work.vtcm_bytes) placement.vtcm_bytes_per_s = *work.vtcm_bytes / seconds;
    if (work.macs_known) placement.macs_per_s = all / seconds;
  }
  return placement;
}

}  // namespace npuscope::analysis
