#include "npuscope/analysis/imbalance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/ops/op_keys.hpp"
#include "npuscope/analysis/ops.hpp"
#include "npuscope/analysis/traffic.hpp"
#include "npuscope/analysis/units.hpp"

namespace npuscope::analysis {
namespace {

struct Load {
  std::int64_t work = 0, waiting = 0;
  std::uint64_t ops = 0;
  double output_bytes = 0;
  std::int64_t ddr_bytes = 0;

  void add(const Load& other) {
    work = saturating_add(work, other.work);
    waiting = saturating_add(waiting, other.waiting);
    ddr_bytes = saturating_add(ddr_bytes, other.ddr_bytes);
  }
};

// Ops that are part of the measurement.
std::vector<bool> measuring_ops(const Profile& profile) {
  std::vector<bool> measuring(profile.ops.size(), false);
  for (std::size_t i = 0; i < profile.ops.size(); ++i) {
    measuring[i] = profile.text(profile.ops[i].kind).starts_with("aicendcyclestats");
  }
  return measuring;
}

class Loads {
 public:
  Loads(const Profile& profile, const SpansByUnit& by_unit, const std::vector<std::int64_t>& own)
      : profile_(profile), cores_(profile), measuring_(measuring_ops(profile)), traffic_(profile) {
    units_.resize(profile.units.size());
    has_spans_.resize(profile.units.size(), false);
    for (std::uint32_t i = 0; i < profile.units.size(); ++i) add_unit(i, by_unit, own);
    if (!take_counters()) add_ddr_of_spans();
    count_static(by_unit);
  }

  std::vector<ImbalanceRow> rows();

 private:
  void add_unit(std::uint32_t unit, const SpansByUnit& by_unit,
                const std::vector<std::int64_t>& own);
  bool take_counters();
  void add_ddr_of_spans();
  void count_static(const SpansByUnit& by_unit);
  void compare(const std::string& parts, const std::map<std::string, Load>& loads,
               bool with_static);

  const Profile& profile_;
  CoreNumbers cores_;
  std::vector<bool> measuring_;
  OpTraffic traffic_;
  std::vector<Load> units_;
  std::vector<bool> has_spans_;
  std::map<std::uint32_t, std::int64_t> of_cores_;  // DDR bytes that cores count
  std::map<std::uint32_t, Load> static_of_core_;
  std::vector<ImbalanceRow> rows_;
};

void Loads::add_unit(std::uint32_t unit, const SpansByUnit& by_unit,
                     const std::vector<std::int64_t>& own) {
  Load& load = units_[unit];
  for (const std::uint32_t row : by_unit.of(UnitId{unit})) {
    const Role role = role_of(profile_.spans.kind[row]);
    if (role != Role::work && role != Role::wait) continue;
    has_spans_[unit] = true;
    const std::size_t op = index_of(profile_.spans.op[row]);
    if (op < measuring_.size() && measuring_[op]) continue;
    std::int64_t& sum = role == Role::work ? load.work : load.waiting;
    sum = saturating_add(sum, own[row]);
  }
}

// What cores count themselves, where they do; of all that they moved.
bool Loads::take_counters() {
  bool any = false;
  for (const Measure& measure : profile_.measures) {
    if (measure.subject != Measure::Subject::unit || measure.kind != MeasureKind::count) continue;
    const auto counted = traffic_named(profile_.text(measure.what));
    if (!counted || counted->memory != Memory::ddr || measure.subject_id >= units_.size()) continue;
    if (profile_.units[measure.subject_id].engine != Engine::core) continue;
    constexpr double most = 9e18;
    if (!(measure.value > 0) || measure.value > most) continue;
    std::int64_t& bytes = of_cores_[cores_.of(UnitId{measure.subject_id})];
    bytes = saturating_add(bytes, std::int64_t(measure.value));
    any = true;
  }
  return any;
}

void Loads::add_ddr_of_spans() {
  const Spans& spans = profile_.spans;
  for (const Route route : {Route::ddr_read, Route::ddr_write}) {
    if (!traffic_.of_spans_known(route)) continue;
    for (std::size_t row = 0; row < spans.size(); ++row) {
      const std::size_t unit = index_of(spans.unit[row]), op = index_of(spans.op[row]);
      if (unit >= units_.size() || (op < measuring_.size() && measuring_[op])) continue;
      std::int64_t& bytes = units_[unit].ddr_bytes;
      bytes = saturating_add(bytes, traffic_.of_span(route, row));
    }
  }
}

// Each op once on each core that it ran on.
void Loads::count_static(const SpansByUnit& by_unit) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> units_of_core;
  for (std::uint32_t i = 0; i < profile_.units.size(); ++i) {
    const std::uint32_t core = cores_.of(UnitId{i});
    if (cores_.is_of_npu(core) && has_spans_[i]) units_of_core[core].push_back(i);
  }
  std::vector<std::uint32_t> seen_on(profile_.ops.size(), ~std::uint32_t{0});
  for (const auto& [core, units] : units_of_core) {
    Load& load = static_of_core_[core];
    for (const std::uint32_t unit : units) {
      for (const std::uint32_t row : by_unit.of(UnitId{unit})) {
        const std::size_t op = index_of(profile_.spans.op[row]);
        if (role_of(profile_.spans.kind[row]) != Role::work || op >= seen_on.size()) continue;
        if (seen_on[op] == core || measuring_[op]) continue;
        seen_on[op] = core;
        load.ops += 1;
        load.output_bytes += double(profile_.ops[op].output.value);
      }
    }
  }
}

void Loads::compare(const std::string& parts, const std::map<std::string, Load>& loads,
                    bool with_static) {
  if (loads.size() < 2) return;
  const auto add = [&](const char* what, MeasureKind kind, auto value_of) {
    ImbalanceRow row{.parts = parts, .what = what, .kind = kind};
    row.members = std::uint32_t(loads.size());
    double sum = 0;
    for (const auto& [name, load] : loads) {
      const double value = double(value_of(load));
      sum += value;
      if (row.most_loaded.empty() || value > row.most) {
        row.most = value;
        row.most_loaded = name;
      }
      if (row.least_loaded.empty() || value < row.least) {
        row.least = value;
        row.least_loaded = name;
      }
    }
    row.mean = sum / double(loads.size());
    if (sum > 0) rows_.push_back(std::move(row));
  };
  add("work", MeasureKind::work, [](const Load& load) { return load.work; });
  add("waiting", MeasureKind::work, [](const Load& load) { return load.waiting; });
  if (!with_static) return;
  add("ops", MeasureKind::count, [](const Load& load) { return load.ops; });
  add("output bytes", MeasureKind::count, [](const Load& load) { return load.output_bytes; });
  add("DDR bytes", MeasureKind::count, [](const Load& load) { return load.ddr_bytes; });
}

std::vector<ImbalanceRow> Loads::rows() {
  std::map<std::string, Load> devices, cores;
  std::map<Engine, std::map<std::string, Load>> engines;
  for (std::uint32_t i = 0; i < profile_.units.size(); ++i) {
    const std::uint32_t core = cores_.of(UnitId{i});
    const Unit& unit = profile_.units[i];
    if (!has_spans_[i]) continue;
    if (unit.engine == Engine::process || unit.engine == Engine::thread) continue;
    engines[unit.engine][path_of(profile_, UnitId{i})].add(units_[i]);
    if (!cores_.is_of_npu(core)) continue;
    cores[cores_.name(core)].add(units_[i]);
    devices[fmt::format("device {}", unit.device)].add(units_[i]);
  }
  for (const auto& [core, load] : static_of_core_) {
    const Unit& unit = profile_.units[index_of(cores_.first_unit(core))];
    for (Load* of : {&cores[cores_.name(core)], &devices[fmt::format("device {}", unit.device)]}) {
      of->ops += load.ops;
      of->output_bytes += load.output_bytes;
      const auto counted = of_cores_.find(core);
      if (counted != of_cores_.end()) {
        of->ddr_bytes = saturating_add(of->ddr_bytes, counted->second);
      }
    }
  }
  compare("devices", devices, true);
  compare("cores", cores, true);
  for (const auto& [engine, units] : engines) {
    if (engine == Engine::core || engine == Engine::device) continue;
    compare(name_of(engine), units, false);
  }
  return std::move(rows_);
}

}  // namespace

std::vector<ImbalanceRow> analyse_imbalance(const Profile& profile, const SpansByUnit& by_unit,
                                            const std::vector<std::int64_t>& own) {
  return Loads(profile, by_unit, own).rows();
}

namespace {

// Kernels that run on as many cores as any do.
std::vector<bool> kinds_on_all(const Profile& profile, const CoreNumbers& cores,
                               std::uint32_t core_count) {
  std::vector<bool> on_all(profile.strings.size(), false);
  std::vector<std::uint32_t> kinds;  // by op, the place of its kind
  std::map<StringId, std::uint32_t> place_of;
  for (const Op& op : profile.ops) {
    kinds.push_back(place_of.try_emplace(op.kind, std::uint32_t(place_of.size())).first->second);
  }
  constexpr std::size_t most_bits = std::size_t{1} << 28;
  if (place_of.size() * cores.count() > most_bits) return on_all;
  std::vector<bool> ran(place_of.size() * cores.count(), false);
  const Spans& spans = profile.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::size_t op = index_of(spans.op[row]);
    const std::uint32_t core = cores.of(spans.unit[row]);
    if (op >= kinds.size() || role_of(spans.kind[row]) != Role::work) continue;
    if (cores.is_of_npu(core)) ran[kinds[op] * cores.count() + core] = true;
  }
  for (const auto& [kind, place] : place_of) {
    const auto first = ran.begin() + std::ptrdiff_t(place * cores.count());
    const auto count = std::count(first, first + std::ptrdiff_t(cores.count()), true);
    if (kind != StringId::empty) on_all[index_of(kind)] = count == core_count;
  }
  return on_all;
}

}  // namespace

std::vector<OneCoreOp> one_core_ops(const Profile& profile, const SpansByUnit& by_unit,
                                    const std::vector<std::int64_t>& own, double least_share) {
  OpOptions options;
  options.top = ~std::size_t{0};
  options.details = true;
  options.sort = "active";
  const OpTable table = analyse_ops(profile, by_unit, own, options);
  const auto active = table.place_of("active"), work = table.place_of("work");
  std::vector<OneCoreOp> ops;
  if (table.cores < 2 || !active || !work) return ops;
  const CoreNumbers cores(profile);
  const auto on_all = kinds_on_all(profile, cores, table.cores);
  for (const OpRow& row : table.rows) {
    const CoreSpread& spread = row.details.spread;
    if (spread.cores != 1 || !row.values[*active] || !row.values[*work]) continue;
    if (profile.text(row.kind).starts_with("aicendcyclestats")) continue;
    OneCoreOp op{.name = row.name, .kind = row.kind, .core = {}};
    op.active = *row.values[*active];
    op.work = *row.values[*work];
    op.kind_is_on_all = row.kinds == 1 && on_all[index_of(row.kind)];
    if (!op.kind_is_on_all && !(op.active >= least_share * table.wall)) continue;
    op.core = cores.name(cores.of(spread.most_loaded));
    ops.push_back(std::move(op));
  }
  return ops;
}

}  // namespace npuscope::analysis
