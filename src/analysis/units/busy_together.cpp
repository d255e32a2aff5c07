#include "analysis/units/busy_together.hpp"

#include <algorithm>
#include <utility>

#include "analysis/answers.hpp"
#include "analysis/units/unit_busy.hpp"
#include "base/parallel.hpp"
#include "profile/interval_sets.hpp"

namespace npuscope::analysis {
namespace {

using Sets = std::vector<const IntervalSet*>;

// Most units do one thing only, so that those of a class are united once for all who ask.
struct Members {
  Sets alike[engine_count][domain_count];
  Sets engines[engine_count], domains[domain_count];  // of units that do several
  Sets dma_waits, other_waits;

  explicit Members(const std::vector<UnitBusy>& units) {
    for (const UnitBusy& unit : units) {
      add_work(unit);
      dma_waits.push_back(&unit.dma_waits);
      other_waits.push_back(&unit.syncs);
      other_waits.push_back(&unit.barriers);
    }
  }

 private:
  void add_work(const UnitBusy& unit) {
    if (unit.engines.size() == 1 && unit.domains.size() == 1) {
      const auto engine = std::size_t(unit.engines[0].engine);
      alike[engine][std::size_t(unit.domains[0].domain)].push_back(&unit.busy);
      return;
    }
    for (const UnitBusy::OfEngine& of : unit.engines) {
      engines[std::size_t(of.engine)].push_back(&unit.busy_of(of));
    }
    for (const UnitBusy::OfDomain& of : unit.domains) {
      domains[std::size_t(of.domain)].push_back(&unit.busy_of(of));
    }
  }
};

}  // namespace

BusyTogether find_busy_together(const Analysis& analysis) {
  Members members(analysis.unit_busy());
  BusyTogether together;
  IntervalSet alike[engine_count][domain_count];
  const std::size_t classes = engine_count * domain_count;
  parallel_for(classes + 2, [&](std::size_t i) {
    if (i == classes) {
      together.dma_waits = union_of_many(members.dma_waits);
    } else if (i > classes) {
      together.other_waits = union_of_many(members.other_waits);
    } else {
      const std::size_t engine = i / domain_count, domain = i % domain_count;
      alike[engine][domain] = union_of_many(members.alike[engine][domain]);
    }
  });
  for (std::size_t engine = 0; engine < engine_count; ++engine) {
    for (std::size_t domain = 0; domain < domain_count; ++domain) {
      members.engines[engine].push_back(&alike[engine][domain]);
      members.domains[domain].push_back(&alike[engine][domain]);
    }
  }
  parallel_for(engine_count, [&](std::size_t engine) {
    together.engines[engine] = union_of_many(members.engines[engine]);
  });
  parallel_for(domain_count, [&](std::size_t domain) {
    IntervalSet* only = nullptr;  // a class of units that alone has anything of the domain
    for (auto& of_engine : alike) {
      if (!of_engine[domain].empty()) only = &of_engine[domain];
    }
    const Sets& sets = members.domains[domain];
    const bool is_alone = only != nullptr && std::ranges::all_of(sets, [&](const IntervalSet* set) {
                            return set->empty() || set == only;
                          });
    together.domains[domain] = is_alone ? std::move(*only) : union_of_many(sets);
  });
  return together;
}

}  // namespace npuscope::analysis
