#include "analysis/units/unit_busy.hpp"

#include "analysis/answers.hpp"
#include "base/parallel.hpp"
#include "profile/append_interval.hpp"

namespace npuscope::analysis {
namespace {

UnitBusy busy_of(const Profile& profile, UnitId unit, std::span<const SpanOfUnit> spans,
                 const std::vector<std::int64_t>& own) {
  UnitBusy of;
  of.unit = unit;
  IntervalSet engines[engine_count];
  std::int64_t work[engine_count] = {};
  bool works[engine_count] = {};
  for (std::size_t place = 0; place < spans.size(); ++place) {
    const SpanOfUnit& span = spans[place];
    ask_ahead(own, spans, place);
    switch (role_of(span.kind)) {
      case Role::work: {
        const auto engine = std::size_t(engine_of(profile, unit, span));
        append(engines[engine], span.interval());
        work[engine] = saturating_add(work[engine], own[span.row]);
        works[engine] = true;
        of.spans += 1;
        break;
      }
      case Role::wait: {
        const bool is_sync = span.kind == SpanKind::sync || span.kind == SpanKind::wait;
        append(span.kind == SpanKind::dma_wait ? of.dma_waits
               : is_sync                       ? of.syncs
                                               : of.barriers,
               span.interval());
        break;
      }
      case Role::frame:
      case Role::overlay: break;
    }
  }
  const IntervalSet held = held_within_work(spans);
  for (std::size_t engine = 0; engine < engine_count; ++engine) {
    if (!works[engine]) continue;
    if (!held.empty()) engines[engine] = difference_of(engines[engine], held);
    of.work = saturating_add(of.work, work[engine]);
    of.engines.push_back({Engine(engine), work[engine], std::move(engines[engine])});
  }
  if (of.engines.size() == 1) {
    of.busy = std::move(of.engines[0].busy);
    of.engines[0].busy = {};
  } else {
    for (const auto& engine : of.engines) of.busy = union_of(of.busy, engine.busy);
  }
  return of;
}

}  // namespace

std::vector<UnitBusy> find_unit_busy(const Analysis& analysis) {
  const Profile& profile = analysis.profile();
  const SpansByUnit& by_unit = analysis.spans_by_unit();
  const std::vector<std::int64_t>& own = analysis.self_times();
  std::vector<UnitBusy> all(profile.units.size() + 1);
  const auto find = [&](std::size_t i) {
    const UnitId unit = i < profile.units.size() ? UnitId(std::uint32_t(i)) : UnitId::none;
    all[i] = busy_of(profile, unit, by_unit.spans_of(unit), own);
  };
  parallel_for(all.size(), find);
  std::erase_if(all, [](const UnitBusy& each) {
    return each.spans == 0 && each.syncs.empty() && each.barriers.empty() && each.dma_waits.empty();
  });
  return all;
}

}  // namespace npuscope::analysis
