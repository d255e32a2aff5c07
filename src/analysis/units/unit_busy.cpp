#include "analysis/units/unit_busy.hpp"

#include "npuscope/base/parallel.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::size_t engine_count = std::size_t(Engine::other) + 1;

UnitBusy busy_of(const Profile& profile, std::span<const std::uint32_t> rows,
                 const std::vector<std::int64_t>& own) {
  const Spans& spans = profile.spans;
  UnitBusy of;
  std::vector<Interval> engines[engine_count], syncs, barriers, dma_waits;
  std::int64_t work[engine_count] = {};
  for (const std::uint32_t row : rows) {
    const Interval interval = interval_of(spans, row);
    switch (role_of(spans.kind[row])) {
      case Role::work: {
        const auto engine = std::size_t(engine_of(profile, row));
        engines[engine].push_back(interval);
        work[engine] = saturating_add(work[engine], own[row]);
        of.spans += 1;
        break;
      }
      case Role::wait: {
        const SpanKind kind = spans.kind[row];
        (kind == SpanKind::dma_wait ? dma_waits
         : kind == SpanKind::sync   ? syncs
                                    : barriers)
            .push_back(interval);
        break;
      }
      case Role::frame:
      case Role::overlay: break;
    }
  }
  for (std::size_t engine = 0; engine < engine_count; ++engine) {
    if (engines[engine].empty()) continue;
    of.work = saturating_add(of.work, work[engine]);
    of.engines.push_back({Engine(engine), work[engine], union_of(std::move(engines[engine]))});
  }
  if (of.engines.size() == 1) {
    of.busy = std::move(of.engines[0].busy);
    of.engines[0].busy = {};
  } else {
    for (const auto& engine : of.engines) of.busy = union_of(of.busy, engine.busy);
  }
  of.syncs = union_of(std::move(syncs));
  of.barriers = union_of(std::move(barriers));
  of.dma_waits = union_of(std::move(dma_waits));
  return of;
}

}  // namespace

std::vector<UnitBusy> busy_of_units(const Profile& profile, const SpansByUnit& by_unit,
                                    const std::vector<std::int64_t>& own) {
  std::vector<UnitBusy> all(profile.units.size() + 1);
  const auto find = [&](std::size_t i) {
    const UnitId unit = i < profile.units.size() ? UnitId(std::uint32_t(i)) : UnitId::none;
    all[i] = busy_of(profile, by_unit.of(unit), own);
    all[i].unit = unit;
  };
  parallel_for(all.size(), find);
  std::erase_if(all, [](const UnitBusy& each) {
    return each.spans == 0 && each.syncs.empty() && each.barriers.empty() && each.dma_waits.empty();
  });
  return all;
}

}  // namespace npuscope::analysis
