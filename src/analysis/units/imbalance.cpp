#include "npuscope/analysis/imbalance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/answers.hpp"
#include "analysis/ops/op_keys.hpp"
#include "analysis/ops/row_names.hpp"
#include "base/parallel.hpp"
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
std::vector<bool> instrumentation_ops(const Profile& profile) {
  std::vector<bool> instrumentation(profile.ops.size(), false);
  for (std::size_t i = 0; i < profile.ops.size(); ++i) {
    instrumentation[i] = is_instrumentation(profile, OpId(std::uint32_t(i)));
  }
  return instrumentation;
}

// "Slice" of "Slice 1": units of a class that are not named alike do other things, as the engines
// that load and that store.
std::string kind_of_unit(std::string_view name) {
  const auto last = name.find_last_not_of("0123456789 _");
  return std::string(name.substr(0, last == name.npos ? 0 : last + 1));
}

class Loads {
 public:
  explicit Loads(const Analysis& analysis)
      : profile_(analysis.profile()),
        cores_(profile_),
        instrumentation_(instrumentation_ops(profile_)),
        traffic_(analysis.traffic()),
        units_(profile_.units.size()) {
    const SpansByUnit& by_unit = analysis.spans_by_unit();
    const SelfTimes& own = analysis.self_times();
    parallel_for(units_.size(), [&](std::size_t unit) {
      find_load(units_[unit], by_unit.spans_of(UnitId(std::uint32_t(unit))), own);
    });
    if (!take_counters()) add_ddr_of_spans();
    count_static();
  }

  std::vector<ImbalanceRow> rows();

 private:
  struct OfUnit {
    Load load;
    bool has_spans = false;
    std::vector<std::uint32_t> ops;  // that it worked on, each once
  };

  void find_load(OfUnit& unit, SpansOfUnit spans, const SelfTimes& own) const;
  bool take_counters();
  void add_ddr_of_spans();
  void count_static();
  void compare(const std::string& parts, const std::map<std::string, Load>& loads,
               bool with_static);

  const Profile& profile_;
  CoreNumbers cores_;
  std::vector<bool> instrumentation_;
  const OpTraffic& traffic_;
  std::map<std::uint32_t, std::int64_t> of_cores_;  // DDR bytes that cores count
  std::vector<OfUnit> units_;
  std::map<std::uint32_t, Load> static_of_core_;
  std::vector<ImbalanceRow> rows_;
};

void sort_and_unite(std::vector<std::uint32_t>& ops) {
  std::sort(ops.begin(), ops.end());
  ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
}

void Loads::find_load(OfUnit& unit, SpansOfUnit spans, const SelfTimes& own) const {
  // Where a unit has few of very many ops, to note all of them would cost more than to sort.
  std::vector<bool> seen(spans.size() > instrumentation_.size() / 64 ? instrumentation_.size() : 0,
                         false);
  for (std::size_t place = 0; place < spans.size(); ++place) {
    const SpanOfUnit& span = spans[place];
    own.ask_ahead(spans, place);
    const Role role = role_of(span.kind);
    if (role != Role::work && role != Role::wait) continue;
    unit.has_spans = true;
    const std::size_t op = index_of(span.op);
    const bool is_op = op < instrumentation_.size();
    if (is_op && instrumentation_[op]) continue;
    std::int64_t& sum = role == Role::work ? unit.load.work : unit.load.waiting;
    sum = saturating_add(sum, own.of(span));
    if (role != Role::work || !is_op || (!seen.empty() && seen[op])) continue;
    if (!seen.empty()) seen[op] = true;
    unit.ops.push_back(std::uint32_t(op));
  }
  sort_and_unite(unit.ops);
}

// What cores count themselves, where they do; of all that they moved.
bool Loads::take_counters() {
  bool any = false;
  for (const Measure& measure : profile_.measures) {
    if (measure.subject != Measure::Subject::unit || measure.kind != MeasureKind::count) continue;
    const auto counted = route_of(measure.meaning.role);
    if (counted != Route::ddr_read && counted != Route::ddr_write) continue;
    if (measure.subject_id >= units_.size()) continue;
    if (profile_.units[measure.subject_id].engine != Engine::core) continue;
    constexpr double max = 9e18;
    if (!(measure.value > 0) || measure.value > max) continue;
    std::int64_t& bytes = of_cores_[cores_.of(UnitId{measure.subject_id})];
    bytes = saturating_add(bytes, std::int64_t(measure.value));
    any = true;
  }
  return any;
}

void Loads::add_ddr_of_spans() {
  const Spans& spans = profile_.spans;
  const std::vector<RowRange> parts =
      ranges_of(spans.size(), std::max<std::size_t>(65'536, 8 * units_.size()));
  for (const Route route : {Route::ddr_read, Route::ddr_write}) {
    if (!traffic_.of_spans_known(route)) continue;
    std::vector<std::vector<std::int64_t>> of_parts(parts.size());
    parallel_for(parts.size(), [&](std::size_t part) {
      std::vector<std::int64_t>& bytes = of_parts[part];
      bytes.assign(units_.size(), 0);
      for (std::size_t row = parts[part].first; row < parts[part].last; ++row) {
        const std::size_t unit = index_of(spans.unit[row]), op = index_of(spans.op[row]);
        if (unit >= units_.size() || (op < instrumentation_.size() && instrumentation_[op]))
          continue;
        bytes[unit] = saturating_add(bytes[unit], traffic_.of_span(route, row));
      }
    });
    for (const auto& bytes : of_parts) {
      for (std::size_t unit = 0; unit < units_.size(); ++unit) {
        std::int64_t& sum = units_[unit].load.ddr_bytes;
        sum = saturating_add(sum, bytes[unit]);
      }
    }
  }
}

// Each op once on each core that it ran on.
void Loads::count_static() {
  std::map<std::uint32_t, std::vector<std::uint32_t>> ops_of_core;
  for (std::uint32_t i = 0; i < units_.size(); ++i) {
    const std::uint32_t core = cores_.of(UnitId{i});
    if (!cores_.is_of_npu(core) || !units_[i].has_spans) continue;
    auto& ops = ops_of_core[core];
    ops.insert(ops.end(), units_[i].ops.begin(), units_[i].ops.end());
  }
  for (auto& [core, ops] : ops_of_core) {
    sort_and_unite(ops);
    Load& load = static_of_core_[core];
    load.ops = ops.size();
    for (const std::uint32_t op : ops) load.output_bytes += double(profile_.ops[op].output.value);
  }
}

void Loads::compare(const std::string& parts, const std::map<std::string, Load>& loads,
                    bool with_static) {
  if (loads.size() < 2) return;
  const auto add = [&](const NamedNumber& number, auto value_of) {
    ImbalanceRow row{.parts = parts,
                     .what = std::string(number.name),
                     .kind = number.kind,
                     .quantity = number.meaning.quantity};
    row.members = std::uint32_t(loads.size());
    double sum = 0;
    for (const auto& [name, load] : loads) {
      const double value = double(value_of(load));
      sum += value;
      if (row.most_loaded.empty() || value > row.max) {
        row.max = value;
        row.most_loaded = name;
      }
      if (row.least_loaded.empty() || value < row.min) {
        row.min = value;
        row.least_loaded = name;
      }
    }
    row.mean = sum / double(loads.size());
    if (row.max == row.min) row.most_loaded = row.least_loaded = "";
    if (sum > 0) rows_.push_back(std::move(row));
  };
  add({"work", MeasureKind::work}, [](const Load& load) { return load.work; });
  add({"waiting", MeasureKind::work}, [](const Load& load) { return load.waiting; });
  if (!with_static) return;
  add({"ops", NumberQuantity::count}, [](const Load& load) { return load.ops; });
  add({"output bytes", NumberQuantity::bytes}, [](const Load& load) { return load.output_bytes; });
  add({"DDR bytes", NumberQuantity::bytes}, [](const Load& load) { return load.ddr_bytes; });
}

std::vector<ImbalanceRow> Loads::rows() {
  std::map<std::string, Load> devices, cores;
  std::map<Engine, std::map<std::string, std::map<std::string, Load>>> engines;  // by kind of unit
  for (std::uint32_t i = 0; i < profile_.units.size(); ++i) {
    const std::uint32_t core = cores_.of(UnitId{i});
    const Unit& unit = profile_.units[i];
    if (!units_[i].has_spans) continue;
    if (unit.engine == Engine::process || unit.engine == Engine::thread) continue;
    engines[unit.engine][kind_of_unit(profile_.text(unit.name))][path_of(profile_, UnitId{i})].add(
        units_[i].load);
    if (!cores_.is_of_npu(core)) continue;
    cores[cores_.name(core)].add(units_[i].load);
    devices[fmt::format("device {}", unit.device)].add(units_[i].load);
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
  for (const auto& [engine, kinds] : engines) {
    if (engine == Engine::core || engine == Engine::device) continue;
    for (const auto& [kind, units] : kinds) {
      compare(kinds.size() == 1 ? name_of(engine) : kind, units, false);
    }
  }
  return std::move(rows_);
}

}  // namespace

std::vector<ImbalanceRow> find_imbalance(const Analysis& analysis) {
  return Loads(analysis).rows();
}

}  // namespace npuscope::analysis
