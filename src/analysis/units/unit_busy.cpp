#include "analysis/units/unit_busy.hpp"

#include <algorithm>
#include <array>

#include "analysis/answers.hpp"
#include "base/parallel.hpp"
#include "profile/append_interval.hpp"
#include "profile/union_of_many.hpp"

namespace npuscope::analysis {
namespace {

// What ops use, close together: there are thousands, and each span asks for one.
std::vector<Engine> engines_of_ops(const Profile& profile) {
  std::vector<Engine> engines;
  engines.reserve(profile.ops.size() + 1);
  for (const Op& op : profile.ops) engines.push_back(op.engine);
  engines.push_back(Engine::none);
  return engines;
}

// The work of one unit on one engine, in one domain.
struct WorkOfClass {
  bool any = false;
  std::int64_t work = 0;
  IntervalSet busy;
};
using WorkOfClasses = std::array<std::array<WorkOfClass, domain_count>, engine_count>;

void divide(WorkOfClasses& classes, UnitBusy& of) {
  bool in_domain[domain_count] = {};
  for (std::size_t engine = 0; engine < engine_count; ++engine) {
    UnitBusy::OfEngine of_engine{Engine(engine), 0, {}};
    bool any = false;
    for (std::size_t domain = 0; domain < domain_count; ++domain) {
      const WorkOfClass& each = classes[engine][domain];
      if (!each.any) continue;
      any = in_domain[domain] = true;
      of_engine.work = saturating_add(of_engine.work, each.work);
    }
    if (!any) continue;
    of.work = saturating_add(of.work, of_engine.work);
    of.engines.push_back(std::move(of_engine));
  }
  for (std::size_t domain = 0; domain < domain_count; ++domain) {
    if (in_domain[domain]) of.domains.push_back({Domain(domain), {}});
  }
  if (of.engines.size() == 1 && of.domains.size() == 1) {
    const auto engine = std::size_t(of.engines[0].engine);
    of.busy = std::move(classes[engine][std::size_t(of.domains[0].domain)].busy);
    return;
  }
  const auto unite = [&](const auto& is_part) {
    std::vector<const IntervalSet*> sets;
    for (std::size_t engine = 0; engine < engine_count; ++engine) {
      for (std::size_t domain = 0; domain < domain_count; ++domain) {
        if (is_part(engine, domain)) sets.push_back(&classes[engine][domain].busy);
      }
    }
    return union_of_many(std::move(sets));
  };
  of.busy = unite([](std::size_t, std::size_t) { return true; });
  for (auto& each : of.engines) {
    if (of.engines.size() == 1) break;
    each.busy =
        unite([&](std::size_t engine, std::size_t) { return Engine(engine) == each.engine; });
  }
  for (auto& each : of.domains) {
    if (of.domains.size() == 1) break;
    each.busy =
        unite([&](std::size_t, std::size_t domain) { return Domain(domain) == each.domain; });
  }
}

UnitBusy busy_of(const Profile& profile, UnitId unit, std::span<const SpanOfUnit> spans,
                 const std::vector<Engine>& engine_of_op, const std::vector<std::int64_t>& own) {
  UnitBusy of;
  of.unit = unit;
  WorkOfClasses classes;
  const bool is_unit = index_of(unit) < profile.units.size();
  const Engine lane = is_unit ? profile.units[index_of(unit)].engine : Engine::none;
  for (std::size_t place = 0; place < spans.size(); ++place) {
    const SpanOfUnit& span = spans[place];
    ask_ahead(own, spans, place);
    switch (role_of(span.kind)) {
      case Role::work: {
        const std::size_t op = std::min<std::size_t>(index_of(span.op), engine_of_op.size() - 1);
        const Engine engine = engine_of(engine_of_op[op], lane, span.kind);
        WorkOfClass& its = classes[std::size_t(engine)][std::size_t(domain_of(engine, span.kind))];
        if (!its.any) its.busy.reserve(of.spans == 0 ? spans.size() : 0);
        its.any = true;
        append(its.busy, span.interval());
        its.work = saturating_add(its.work, own[span.row]);
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
  if (const IntervalSet held = held_within_work(spans); !held.empty()) {
    for (auto& of_engine : classes) {
      for (WorkOfClass& each : of_engine) each.busy = difference_of(each.busy, held);
    }
  }
  divide(classes, of);
  return of;
}

}  // namespace

std::vector<UnitBusy> find_unit_busy(const Analysis& analysis) {
  const Profile& profile = analysis.profile();
  const SpansByUnit& by_unit = analysis.spans_by_unit();
  const std::vector<std::int64_t>& own = analysis.self_times();
  const std::vector<Engine> engine_of_op = engines_of_ops(profile);
  std::vector<UnitBusy> all(profile.units.size() + 1);
  const auto find = [&](std::size_t i) {
    const UnitId unit = i < profile.units.size() ? UnitId(std::uint32_t(i)) : UnitId::none;
    all[i] = busy_of(profile, unit, by_unit.spans_of(unit), engine_of_op, own);
  };
  parallel_for(all.size(), find);
  std::erase_if(all, [](const UnitBusy& each) {
    return each.spans == 0 && each.syncs.empty() && each.barriers.empty() && each.dma_waits.empty();
  });
  return all;
}

}  // namespace npuscope::analysis
