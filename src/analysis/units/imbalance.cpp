#include "npuscope/analysis/imbalance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/answers.hpp"
#include "analysis/measuring.hpp"
#include "analysis/ops/op_keys.hpp"
#include "analysis/ops/op_runs.hpp"
#include "analysis/self_times.hpp"
#include "base/counting_sort.hpp"
#include "base/parallel.hpp"
#include "npuscope/analysis/traffic.hpp"
#include "npuscope/analysis/units.hpp"
#include "npuscope/profile/column.hpp"

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
    measuring[i] = is_measuring(profile, OpId(std::uint32_t(i)));
  }
  return measuring;
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
        measuring_(measuring_ops(profile_)),
        traffic_(analysis.traffic()),
        units_(profile_.units.size()) {
    const SpansByUnit& by_unit = analysis.spans_by_unit();
    parallel_for(units_.size(), [&](std::size_t unit) {
      find_load(units_[unit], by_unit.spans_of(UnitId(std::uint32_t(unit))));
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

  void find_load(OfUnit& unit, std::span<const SpanOfUnit> spans) const;
  bool take_counters();
  void add_ddr_of_spans();
  void count_static();
  void compare(const std::string& parts, const std::map<std::string, Load>& loads,
               bool with_static);

  const Profile& profile_;
  CoreNumbers cores_;
  std::vector<bool> measuring_;
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

void Loads::find_load(OfUnit& unit, std::span<const SpanOfUnit> spans) const {
  thread_local std::vector<std::int64_t> own;
  find_self_times(spans, own);
  // Where a unit has few of very many ops, to note all of them would cost more than to sort.
  std::vector<bool> seen(spans.size() > measuring_.size() / 64 ? measuring_.size() : 0, false);
  for (std::size_t place = 0; place < spans.size(); ++place) {
    const SpanOfUnit& span = spans[place];
    const Role role = role_of(span.kind);
    if (role != Role::work && role != Role::wait) continue;
    unit.has_spans = true;
    const std::size_t op = index_of(span.op);
    const bool is_op = op < measuring_.size();
    if (is_op && measuring_[op]) continue;
    std::int64_t& sum = role == Role::work ? unit.load.work : unit.load.waiting;
    sum = saturating_add(sum, own[place]);
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
        if (unit >= units_.size() || (op < measuring_.size() && measuring_[op])) continue;
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

namespace {

// Kernels that run on as many cores as any do.
std::vector<bool> kinds_on_all(const Profile& profile, const CoreNumbers& cores,
                               std::uint32_t core_count) {
  std::vector<bool> on_all(profile.strings.size(), false);
  std::vector<std::uint32_t> kinds;  // by op, the place of its kind
  kinds.reserve(profile.ops.size());
  std::map<StringId, std::uint32_t> place_of;
  for (const Op& op : profile.ops) {
    kinds.push_back(place_of.try_emplace(op.kind, std::uint32_t(place_of.size())).first->second);
  }
  constexpr std::size_t max_bits = std::size_t{1} << 28;
  if (place_of.size() * cores.count() > max_bits) return on_all;
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

// Groups of ops whose work ran on one core, and that work.
class OneCoreWork {
 public:
  explicit OneCoreWork(const Profile& profile)
      : profile_(profile), keys_(profile, {}), cores_(profile), core_of_(keys_.count(), none) {
    find_cores();
  }

  const OpKeys& keys() const { return keys_; }
  const CoreNumbers& cores() const { return cores_; }
  std::uint32_t core_count() const { return core_count_; }

  bool is_of_one(std::uint32_t group) const { return core_of_[group] < several; }
  std::string core_name(std::uint32_t group) const { return cores_.name(core_of_[group]); }

  // By group; zero for those on several cores. Active only of the groups of which it is asked, by
  // `is_asked(group, most)`, which is told the most that it can be.
  struct Times {
    std::vector<double> active, work;
  };
  template <class IsAsked>
  Times times(const std::vector<std::int64_t>& own, const IsAsked& is_asked) const;

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0}, several = none - 1;

  void find_cores();
  // Noting all groups is little beside looking at a part's spans.
  std::vector<RowRange> parts_of(const Spans& spans) const {
    return ranges_of(spans.size(), std::max<std::size_t>(65'536, 8 * keys_.count()));
  }

  const Profile& profile_;
  OpKeys keys_;
  CoreNumbers cores_;
  std::vector<std::uint32_t> core_of_;
  std::uint32_t core_count_ = 0;
};

// Of work on NPUs. A group that only other processors work on has none.
void OneCoreWork::find_cores() {
  const Spans& spans = profile_.spans;
  struct Part {
    std::vector<std::uint8_t> ran;
    std::vector<std::uint32_t> core_of;
  };
  const std::vector<RowRange> ranges = parts_of(spans);
  std::vector<Part> parts(ranges.size());
  const auto note = [](std::uint32_t& of_group, std::uint32_t core) {
    if (core == none) return;
    of_group = of_group == none || of_group == core ? core : several;
  };
  parallel_for(parts.size(), [&](std::size_t i) {
    Part& part = parts[i];
    part.ran.assign(cores_.count(), false);
    part.core_of.assign(keys_.count(), none);
    for (std::size_t row = ranges[i].first; row < ranges[i].last; ++row) {
      const bool is_work = role_of(spans.kind[row]) == Role::work;
      if (!is_work && spans.kind[row] != SpanKind::async) continue;
      const std::uint32_t core = cores_.of(spans.unit[row]);
      part.ran[core] = true;
      if (is_work && cores_.is_of_npu(core)) note(part.core_of[keys_.of(row)], core);
    }
  });
  std::vector<std::uint8_t> ran(cores_.count(), false);
  for (const Part& part : parts) {
    for (std::size_t core = 0; core < ran.size(); ++core) ran[core] |= part.ran[core];
    for (std::size_t group = 0; group < core_of_.size(); ++group) {
      note(core_of_[group], part.core_of[group]);
    }
  }
  for (std::uint32_t core = 0; core < ran.size(); ++core) {
    core_count_ += ran[core] != 0 && cores_.is_of_npu(core);
  }
}

template <class IsAsked>
OneCoreWork::Times OneCoreWork::times(const std::vector<std::int64_t>& own,
                                      const IsAsked& is_asked) const {
  const Spans& spans = profile_.spans;
  Times times{std::vector<double>(keys_.count(), 0), std::vector<double>(keys_.count(), 0)};
  const IssuesBeside issues(profile_, own);
  struct Sums {
    double work = 0;
    std::int64_t length = 0;
  };
  const std::vector<RowRange> ranges = parts_of(spans);
  std::vector<std::vector<Sums>> parts(ranges.size());
  parallel_for(parts.size(), [&](std::size_t part) {
    parts[part].resize(keys_.count());
    for (std::size_t row = ranges[part].first; row < ranges[part].last; ++row) {
      const std::uint32_t group = keys_.of(row);
      if (role_of(spans.kind[row]) != Role::work || !is_of_one(group)) continue;
      Sums& sums = parts[part][group];
      sums.work += double(own[row] - issues.of(row));
      sums.length = saturating_add(sums.length, length_of(interval_of(spans, row)));
    }
  });
  std::vector<std::int64_t> lengths(keys_.count(), 0);
  for (const std::vector<Sums>& part : parts) {
    for (std::size_t group = 0; group < lengths.size(); ++group) {
      times.work[group] += part[group].work;
      lengths[group] = saturating_add(lengths[group], part[group].length);
    }
  }
  std::vector<std::uint8_t> asked(keys_.count());
  for (std::uint32_t group = 0; group < asked.size(); ++group) {
    asked[group] = is_of_one(group) && is_asked(group, lengths[group]);
  }
  CountingSort by_group(spans.size(), keys_.count(), [&](std::size_t row) {
    const std::uint32_t group = keys_.of(row);
    const bool counts = role_of(spans.kind[row]) == Role::work && asked[group];
    return counts ? group : counting_sort_leaves_out;
  });
  Column<Interval> sorted;
  sorted.resize(by_group.size());
  by_group.place(
      [&](std::size_t row, std::uint32_t place) { sorted[place] = interval_of(spans, row); });
  parallel_for(keys_.count(), [&](std::size_t group) {
    const auto first = sorted.begin() + by_group.first()[group];
    const auto last = sorted.begin() + by_group.first()[group + 1];
    times.active[group] = double(length_of(union_of({first, last})));
  });
  return times;
}

}  // namespace

std::vector<OneCoreOp> find_one_core_ops(const Analysis& analysis, double min_share) {
  const Profile& profile = analysis.profile();
  const std::vector<std::int64_t>& own = analysis.self_times();
  const OneCoreWork found(profile);
  std::vector<OneCoreOp> ops;
  if (found.core_count() < 2) return ops;
  const double wall = double(length_of(analysis.timeline_extent()));
  const auto on_all = kinds_on_all(profile, found.cores(), found.core_count());
  const auto kind_is_on_all = [&](std::uint32_t group) {
    const OpRow& row = found.keys().rows()[group];
    return row.kinds == 1 && on_all[index_of(row.kind)];
  };
  const OneCoreWork::Times times =
      found.times(own, [&](std::uint32_t group, std::int64_t max_active) {
        return kind_is_on_all(group) || double(max_active) >= min_share * wall;
      });
  std::vector<std::uint32_t> order;
  for (std::uint32_t group = 0; group < found.keys().count(); ++group) {
    const OpRow& row = found.keys().rows()[group];
    if (!found.is_of_one(group) || is_measuring(profile.text(row.kind))) continue;
    if (kind_is_on_all(group) || times.active[group] >= min_share * wall) order.push_back(group);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return times.active[a] > times.active[b];
  });
  for (const std::uint32_t group : order) {
    const OpRow& row = found.keys().rows()[group];
    OneCoreOp& op = ops.emplace_back(
        OneCoreOp{std::string(found.keys().name(group)), row.kind, found.core_name(group)});
    op.active = times.active[group];
    op.work = times.work[group];
    op.kind_is_on_all = kind_is_on_all(group);
  }
  return ops;
}

}  // namespace npuscope::analysis
