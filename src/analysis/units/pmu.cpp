#include "analysis/units/pmu.hpp"

#include <map>

namespace npuscope::analysis {
namespace {

class PmuTable {
 public:
  explicit PmuTable(const Profile& profile) : profile_(profile) {}

  Pmu make() {
    add_counts();
    if (counts_.empty()) return {};
    add_cycles();
    Pmu pmu;
    std::vector<std::uint32_t> codes;
    for (const auto& [code, cores] : counts_) {
      codes.push_back(code);
      pmu.rows.push_back(row_of(code, cores));
    }
    pmu.recipe = pmu_recipe_of(std::move(codes));
    return pmu;
  }

 private:
  using CountOfCore = std::map<UnitId, double>;

  // The core that a unit is or belongs to; a unit without one stands for itself.
  UnitId core_of(UnitId unit) const {
    UnitId core = unit;
    for (std::size_t steps = 0; steps < profile_.units.size(); ++steps) {
      if (index_of(core) >= profile_.units.size()) return unit;
      if (profile_.units[index_of(core)].engine == Engine::core) return core;
      core = profile_.units[index_of(core)].parent;
    }
    return unit;
  }

  void add_counts() {
    for (const Measure& measure : profile_.measures) {
      if (measure.subject != Measure::Subject::unit) continue;
      if (measure.subject_id >= profile_.units.size()) continue;
      if (measure.meaning.role != NumberRole::pmu_event) continue;
      counts_[measure.event][core_of(UnitId(measure.subject_id))] += measure.value;
    }
  }

  // Of threads as they were recorded; of cores for where only those were.
  void add_cycles() {
    const Spans& spans = profile_.spans;
    for (std::size_t row = 0; row < spans.size(); ++row) {
      if (spans.kind[row] != SpanKind::inference || spans.processor_cycles[row] < 0) continue;
      const UnitId unit = spans.unit[row];
      if (index_of(unit) >= profile_.units.size()) continue;
      cycles_[{core_of(unit), profile_.units[index_of(unit)].engine}] +=
          double(spans.processor_cycles[row]);
    }
    std::map<std::uint32_t, double> threads_shown;
    for (const Measure& measure : profile_.measures) {
      if (measure.subject != Measure::Subject::unit) continue;
      if (measure.meaning.role != NumberRole::threads) continue;
      threads_shown[measure.subject_id] = measure.value;
    }
    for (std::uint32_t id = 0; id < profile_.units.size(); ++id) {
      const auto found = threads_shown.find(id);
      threads_[{core_of(UnitId(id)), profile_.units[id].engine}] +=
          found != threads_shown.end() ? found->second : 1;
    }
  }

  std::optional<double> cycles_of(UnitId core, Engine engine) const {
    const auto found = cycles_.find({core, engine});
    if (found != cycles_.end()) return found->second;
    const auto of_core = cycles_.find({core, Engine::core});
    const auto threads = threads_.find({core, engine});
    if (of_core == cycles_.end() || threads == threads_.end()) return std::nullopt;
    return of_core->second * threads->second;
  }

  PmuRow row_of(std::uint32_t code, const CountOfCore& counts) const {
    PmuRow row{.code = code, .event = find_pmu_event(code)};
    const bool is_use = row.event != nullptr && row.event->engine != Engine::none;
    if (is_use) row.value.cycles = 0;
    for (const auto& [core, count] : counts) {
      PmuCore& each = row.cores.emplace_back(PmuCore{core, {count}});
      row.value.count += count;
      if (!is_use) continue;
      each.value.cycles = cycles_of(core, row.event->engine);
      if (row.value.cycles && each.value.cycles) {
        *row.value.cycles += *each.value.cycles;
      } else {
        row.value.cycles.reset();
      }
    }
    return row;
  }

  const Profile& profile_;
  std::map<std::uint32_t, CountOfCore> counts_;  // by event
  std::map<std::pair<UnitId, Engine>, double> cycles_, threads_;
};

}  // namespace

Pmu analyse_pmu(const Profile& profile) { return PmuTable(profile).make(); }

}  // namespace npuscope::analysis
