#include "npuscope/analysis/memory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/memory/memory_groups.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "npuscope/base/counting_sort.hpp"
#include "npuscope/base/parallel.hpp"

namespace npuscope::analysis {
namespace {

// What one row did in one inference.
struct Cell {
  std::uint32_t inference = 0;
  std::array<std::int64_t, route_count> bytes{};
  double active = 0;
  double hvx = 0, hmx = 0;  // ticks of kernels
  std::uint64_t hvx_spans = 0, hmx_spans = 0, dma_spans = 0;
  std::array<double, precision_count> macs{};
};

// What is asked of a span that counts, side by side.
struct Counted {  // without values at first, for the sake of Column
  std::int64_t begin, end;
  std::uint32_t row, inference;
  OpId op;
  SpanKind kind;
  Engine engine;
};

// Sums that saturated stay the largest number.
std::int64_t whole(double value) {
  constexpr double most = 9.2e18;
  return value < most ? std::llround(value) : std::numeric_limits<std::int64_t>::max();
}

// Of the values and so many zeros; no value is below 0.
double median(std::vector<double> values, std::size_t zeros = 0) {
  const std::size_t count = values.size() + zeros;
  const std::size_t upper = count / 2;
  const auto smallest = std::min_element(values.begin(), values.end());
  const auto largest = std::max_element(values.begin(), values.end());
  if (values.empty() || upper < zeros || *largest == 0) return 0;
  if (zeros == 0 && *smallest == *largest) return *largest;
  const auto middle = values.begin() + std::ptrdiff_t(upper - zeros);
  std::nth_element(values.begin(), middle, values.end());
  if (count % 2 == 1) return *middle;
  const double before = middle == values.begin() ? 0 : *std::max_element(values.begin(), middle);
  return (before + *middle) / 2;
}

// Of one figure over the cells of a row. In inferences in which it did not run it did nothing.
template <class Figure>
double median_of(const std::vector<Cell>& cells, std::size_t inferences, const Figure& figure) {
  std::vector<double> values;
  values.reserve(cells.size());
  for (const Cell& cell : cells) values.push_back(double(figure(cell)));
  return median(std::move(values), inferences - std::min(inferences, cells.size()));
}

std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (word || !plain.empty()) plain += word ? c : '_';
  }
  while (!plain.empty() && plain.back() == '_') plain.pop_back();
  return plain;
}

class MemoryAnalysis {
 public:
  MemoryAnalysis(const Profile& profile, const OpTraffic& traffic, const MemoryOptions& options)
      : profile_(profile),
        traffic_(traffic),
        options_(options),
        macs_(profile),
        groups_(make_memory_groups(profile, options.grouping)) {}

  MemoryTable finish();

 private:
  void find_engines();
  void find_threads();
  void find_inferences();
  void take_told_wall();
  void sum_inferences();
  void make_roofs_of_profile();
  void sort_rows();
  std::vector<Cell> cells_of(std::size_t group);
  static double active_of(std::span<Counted> spans);
  void add_span(Cell& cell, const Counted& span) const;
  void fill(MemoryRow& row, const std::vector<Cell>& cells) const;
  void fill_without_timeline();
  void take_model();
  void sum_up();
  void rank();
  Work work_with_units(Work work) const;
  bool is_active(std::size_t row) const {
    return role_of(profile_.spans.kind[row]) == Role::work ||
           profile_.spans.kind[row] == SpanKind::dma_wait;
  }
  // What only waits may have moved something all the same, the op that ends a run for one.
  bool counts(std::size_t row) const {
    return is_active(row) || (role_of(profile_.spans.kind[row]) == Role::wait && moves(row));
  }
  bool moves(std::size_t row) const {
    for (std::size_t route = 0; route < route_count; ++route) {
      if (traffic_.of_spans_known(Route(route)) && traffic_.of_span(Route(route), row) > 0) {
        return true;
      }
    }
    return false;
  }
  std::uint32_t inference_of(std::size_t row) const {
    return has_instances_ ? profile_.spans.instance[row] : 0;
  }

  const Profile& profile_;
  const OpTraffic& traffic_;
  const MemoryOptions& options_;
  OpMacs macs_;
  MemoryGroups groups_;
  MemoryTable table_;
  bool has_instances_ = false;
  std::vector<Engine> engine_of_op_;
  std::vector<Precision> precision_of_op_;
  std::uint32_t hvx_units_ = 0, hmx_units_ = 0, dma_units_ = 0;
  std::vector<std::uint32_t> first_;  // of each group
  Column<Counted> sorted_;            // by group
};

Engine engine_at(const Profile& profile, const std::vector<Engine>& engine_of_op, std::size_t row) {
  const std::size_t op = index_of(profile.spans.op[row]);
  if (op < engine_of_op.size() && engine_of_op[op] != Engine::none) return engine_of_op[op];
  const std::size_t unit = index_of(profile.spans.unit[row]);
  return unit < profile.units.size() ? profile.units[unit].engine : Engine::none;
}

void MemoryAnalysis::find_engines() {
  std::unordered_map<std::uint32_t, Precision> known;
  for (const Op& op : profile_.ops) {
    engine_of_op_.push_back(op.engine);
    const auto [place, is_new] = known.try_emplace(index_of(op.types));
    if (is_new) place->second = precision_of(profile_.text(op.types));
    precision_of_op_.push_back(place->second);
  }
  constexpr std::size_t engines = std::size_t(Engine::other) + 1;
  std::vector<std::array<bool, engines>> used(profile_.units.size());
  std::array<EngineTraffic, engines> of_engine{};
  for (std::size_t row = 0; row < profile_.spans.size(); ++row) {
    if (role_of(profile_.spans.kind[row]) != Role::work) continue;
    const Engine engine = engine_of(profile_, row);
    const std::size_t unit = index_of(profile_.spans.unit[row]);
    if (unit < used.size()) used[unit][std::size_t(engine)] = true;
    of_engine[std::size_t(engine)].spans += 1;
    for (std::size_t route = 0; route < route_count; ++route) {
      if (!traffic_.of_spans_known(Route(route))) continue;
      add(of_engine[std::size_t(engine)].bytes[route], traffic_.of_span(Route(route), row));
    }
  }
  for (const auto& of_unit : used) {
    hvx_units_ += of_unit[std::size_t(Engine::hvx)];
    hmx_units_ += of_unit[std::size_t(Engine::hmx)];
    dma_units_ += of_unit[std::size_t(Engine::dma_issue)] || of_unit[std::size_t(Engine::dma)];
  }
  for (std::size_t i = 0; i < of_engine.size(); ++i) {
    of_engine[i].engine = Engine(i);
    if (of_engine[i].spans > 0) table_.engines.push_back(of_engine[i]);
  }
}

// A program may leave threads without work: they count as there, where the target or the files
// tell.
void MemoryAnalysis::find_threads() {
  if (hvx_units_ == 0) return;
  constexpr double most = 4'096;  // for a forged number
  const double of_target = double(options_.peaks.hvx_threads) * table_.roofs.cores;
  hvx_units_ = std::max(hvx_units_, std::uint32_t(std::min(of_target, most)));
  for (const Measure& measure : profile_.measures) {
    if (measure.subject != Measure::Subject::profile || !(measure.value > 0)) continue;
    if (profile_.text(measure.what) != "Number of HVX threads used") continue;
    hvx_units_ = std::max(hvx_units_, std::uint32_t(std::min(measure.value, most)));
  }
}

void MemoryAnalysis::find_inferences() {
  const Spans& spans = profile_.spans;
  has_instances_ = spans.instance.size() == spans.size() && spans.size() > 0;
  table_.timeline = timeline_of(profile_);
  std::unordered_map<std::uint32_t, std::size_t> place_of;
  std::vector<std::pair<std::uint32_t, Interval>> extents;
  std::uint32_t last = 0;
  std::size_t at = 0;
  for (std::size_t row = 0; has_instances_ && row < spans.size(); ++row) {
    if (role_of(spans.kind[row]) == Role::overlay || spans.kind[row] == SpanKind::activation) {
      continue;
    }
    const Interval interval = interval_of(spans, row);
    if (extents.empty() || spans.instance[row] != last) {
      last = spans.instance[row];
      const auto [place, is_new] = place_of.try_emplace(last, extents.size());
      at = place->second;
      if (is_new) extents.push_back({last, interval});
    }
    extents[at].second.begin = std::min(extents[at].second.begin, interval.begin);
    extents[at].second.end = std::max(extents[at].second.end, interval.end);
  }
  std::sort(extents.begin(), extents.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  if (extents.empty() && spans.size() > 0) extents.push_back({0, table_.timeline});
  std::vector<double> walls;
  for (const auto& [instance, extent] : extents) {
    table_.inferences.push_back({instance, length_of(extent), {}});
    walls.push_back(double(length_of(extent)));
  }
  table_.walls = spread_of(walls);
  table_.first_apart = walls.size() > 1;
  table_.wall = walls.size() > 1 ? table_.walls.median_of_rest : table_.walls.first;
}

// A summary has no timeline of its ops, but may tell how long the graph took.
void MemoryAnalysis::take_told_wall() {
  if (table_.wall > 0) return;
  const std::size_t base = index_of(profile_.base_clock);
  const double rate = base < profile_.clocks.size() ? profile_.clocks[base].rate.value : 0;
  for (const Measure& measure : profile_.measures) {
    if (measure.subject != Measure::Subject::profile || measure.kind != MeasureKind::wall) continue;
    if (index_of(measure.clock) >= profile_.clocks.size() || !(measure.value > 0)) continue;
    const double of_measure = profile_.clocks[index_of(measure.clock)].rate.value;
    const std::string_view name = profile_.text(measure.what);
    if (name != "Graph Execute, rounded down" || !(rate > 0) || !(of_measure > 0)) continue;
    table_.wall = measure.value / of_measure * rate;
    return;
  }
}

void MemoryAnalysis::sum_inferences() {
  const Spans& spans = profile_.spans;
  if (table_.inferences.empty()) return;
  std::unordered_map<std::uint32_t, std::size_t> place_of;
  for (std::size_t i = 0; i < table_.inferences.size(); ++i) {
    place_of[table_.inferences[i].instance] = i;
  }
  std::size_t place = 0;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::uint32_t inference = inference_of(row);
    if (table_.inferences[place].instance != inference) {
      const auto found = place_of.find(inference);
      if (found == place_of.end()) continue;  // of an overlay only
      place = found->second;
    }
    RouteBytes& bytes = table_.inferences[place].bytes;
    for (std::size_t route = 0; route < route_count; ++route) {
      if (!traffic_.of_spans_known(Route(route))) continue;
      add(bytes[route], traffic_.of_span(Route(route), row));
    }
  }
}

void MemoryAnalysis::make_roofs_of_profile() {
  table_.rate = options_.rate ? options_.rate : rate_during(profile_, table_.timeline);
  const std::size_t base = index_of(profile_.base_clock);
  const bool cycles =
      base < profile_.clocks.size() && profile_.clocks[base].kind == ClockKind::unit_cycles;
  // Cores that compute: by their HMX or HVX units; a summary has only the cores themselves.
  std::vector<std::uint64_t> cores;
  for (const Engine engine : {Engine::hmx, Engine::hvx, Engine::core}) {
    if (!cores.empty()) break;
    for (const Unit& unit : profile_.units) {
      if (unit.engine == engine) cores.push_back(std::uint64_t{unit.device} << 32 | unit.core);
    }
  }
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  table_.roofs = make_roofs(options_.peaks, table_.rate.value_or(Hertz{0}), cycles,
                            std::uint32_t(std::max<std::size_t>(1, cores.size())));
}

void MemoryAnalysis::sort_rows() {
  const Spans& spans = profile_.spans;
  CountingSort by_group(spans.size(), groups_.rows.size(), [&](std::size_t row) {
    return counts(row) ? groups_.of(spans.op[row]) : counting_sort_leaves_out;
  });
  first_ = by_group.first();
  sorted_.resize(by_group.size());
  by_group.place([&](std::size_t row, std::uint32_t place) {
    const auto [begin, end] = interval_of(spans, row);
    sorted_[place] = {begin,
                      end,
                      std::uint32_t(row),
                      inference_of(row),
                      spans.op[row],
                      spans.kind[row],
                      engine_at(profile_, engine_of_op_, row)};
  });
}

void MemoryAnalysis::add_span(Cell& cell, const Counted& span) const {
  for (std::size_t route = 0; route < route_count; ++route) {
    if (!traffic_.of_spans_known(Route(route))) continue;
    cell.bytes[route] = saturating_add(cell.bytes[route], traffic_.of_span(Route(route), span.row));
  }
  if (role_of(span.kind) != Role::work || span.kind == SpanKind::transfer) return;
  const auto duration = double(length_of({span.begin, span.end}));
  switch (span.engine) {
    case Engine::hvx:
      cell.hvx += duration;
      cell.hvx_spans += 1;
      break;
    case Engine::hmx:
      cell.hmx += duration;
      cell.hmx_spans += 1;
      break;
    case Engine::dma:
    case Engine::dma_issue: cell.dma_spans += 1; break;
    default: break;
  }
  if (const auto macs = macs_.of(span.op)) {
    cell.macs[std::size_t(precision_of_op_[index_of(span.op)])] += *macs;
  }
}

std::vector<Cell> MemoryAnalysis::cells_of(std::size_t group) {
  std::vector<Cell> cells;
  const auto begin = sorted_.begin() + first_[group], end = sorted_.begin() + first_[group + 1];
  const auto of_earlier = [](const Counted& a, const Counted& b) {
    return a.inference < b.inference;
  };
  if (!std::is_sorted(begin, end, of_earlier)) std::stable_sort(begin, end, of_earlier);
  for (auto first = begin; first != end;) {
    const auto last = std::upper_bound(first, end, *first, of_earlier);
    Cell& cell = cells.emplace_back(Cell{first->inference});
    // In the order of rows, in which what was moved lies.
    for (auto span = first; span != last; ++span) add_span(cell, *span);
    if (options_.active_of_rows) cell.active = active_of({first, last});
    first = last;
  }
  if (table_.first_apart && !cells.empty() &&
      cells.front().inference == table_.inferences.front().instance) {
    cells.erase(cells.begin());
  }
  return cells;
}

// Sorts them by their start.
double MemoryAnalysis::active_of(std::span<Counted> spans) {
  const auto before = [](const Counted& a, const Counted& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.row < b.row;
  };
  if (!std::is_sorted(spans.begin(), spans.end(), before)) {
    std::sort(spans.begin(), spans.end(), before);
  }
  double active = 0;
  std::int64_t covered = spans.front().begin;
  for (const Counted& span : spans) {
    if (role_of(span.kind) != Role::work && span.kind != SpanKind::dma_wait) continue;
    active += double(length_of({std::max(covered, span.begin), span.end}));
    covered = std::max(covered, span.end);
  }
  return active;
}

Work MemoryAnalysis::work_with_units(Work work) const {
  work.hvx_units = hvx_units_;
  work.hmx_units = hmx_units_;
  return work;
}

void MemoryAnalysis::fill(MemoryRow& row, const std::vector<Cell>& cells) const {
  const std::size_t inferences = table_.inferences.size() - (table_.first_apart ? 1 : 0);
  const auto figure = [&](auto of) { return median_of(cells, inferences, of); };
  for (std::size_t route = 0; route < route_count; ++route) {
    if (!traffic_.of_spans_known(Route(route))) continue;
    row.bytes[route] = whole(figure([&](const Cell& cell) { return cell.bytes[route]; }));
  }
  row.active = figure([](const Cell& cell) { return cell.active; });
  Work& work = row.work;
  work.hvx_ticks = figure([](const Cell& cell) { return cell.hvx; });
  work.hmx_ticks = figure([](const Cell& cell) { return cell.hmx; });
  for (std::size_t i = 0; i < precision_count; ++i) {
    work.macs[i] = figure([&](const Cell& cell) { return cell.macs[i]; });
  }
  work.macs_known = work.hmx_ticks == 0 || work.all_macs() > 0;
  const auto dispatch = [&](std::optional<double> ticks, std::uint32_t units, double started) {
    if (ticks && units > 0) {
      work.dispatch_ticks = std::max(work.dispatch_ticks, *ticks * started / units);
    }
  };
  dispatch(table_.roofs.hvx_dispatch_ticks, hvx_units_,
           figure([](const Cell& cell) { return cell.hvx_spans; }));
  dispatch(table_.roofs.hmx_dispatch_ticks, hmx_units_,
           figure([](const Cell& cell) { return cell.hmx_spans; }));
  dispatch(table_.roofs.dma_dispatch_ticks, dma_units_,
           figure([](const Cell& cell) { return cell.dma_spans; }));
}

void MemoryAnalysis::fill_without_timeline() {
  for (std::size_t op = 0; op < profile_.ops.size(); ++op) {
    MemoryRow& row = groups_.rows[groups_.of_op[op]];
    for (std::size_t route = 0; route < route_count; ++route) {
      if (traffic_.of_spans_known(Route(route)) || !traffic_.of_ops_known(Route(route))) continue;
      add(row.bytes[route], traffic_.of_op(Route(route), OpId(std::uint32_t(op))));
    }
  }
}

// Node names reach the device with other signs in place of slashes and dots.
void MemoryAnalysis::take_model() {
  std::unordered_map<std::string, std::vector<std::uint32_t>> rows_of;
  if (options_.model.empty()) return;
  for (std::size_t i = 0; i < groups_.rows.size(); ++i) {
    rows_of[plain_name(groups_.rows[i].label)].push_back(std::uint32_t(i));
  }
  for (const NodeMacs& node : options_.model) {
    if (!(node.macs > 0)) continue;
    table_.model_nodes += 1;
    table_.model_macs += node.macs;
    const auto found = rows_of.find(plain_name(node.name));
    if (found == rows_of.end() || found->second.size() != 1) continue;
    table_.model_nodes_matched += 1;
    table_.model_macs_matched += node.macs;
    Work& work = groups_.rows[found->second.front()].work;
    std::size_t precision = std::size_t(Precision::fp16);
    for (std::size_t i = 0; i < precision_count; ++i) {
      if (work.macs[i] > work.macs[precision]) precision = i;
    }
    work.macs = {};
    work.macs[precision] = node.macs;
    work.macs_known = true;
    groups_.rows[found->second.front()].macs_of_model = true;
  }
}

void MemoryAnalysis::sum_up() {
  Work& all = table_.work;
  all.ticks = table_.wall;
  all.macs_known = true;
  double hmx_without_macs = 0;
  for (MemoryRow& row : groups_.rows) {
    Work& work = row.work;
    work = work_with_units(work);
    work.ticks = row.active;
    if (const auto bytes = ddr_bytes(row.bytes)) work.ddr_bytes = double(*bytes);
    if (const auto bytes = vtcm_bytes(row.bytes)) work.vtcm_bytes = double(*bytes);
    row.placement = place_under(table_.roofs, work);
    all.hvx_ticks += work.hvx_ticks;
    all.hmx_ticks += work.hmx_ticks;
    for (std::size_t i = 0; i < precision_count; ++i) all.macs[i] += work.macs[i];
    if (!work.macs_known) hmx_without_macs += work.hmx_ticks;
  }
  for (std::size_t route = 0; route < route_count; ++route) {
    const TrafficTotal& total = traffic_.total(Route(route));
    if (!table_.first_apart) {
      table_.bytes[route] = total.best();
      continue;
    }
    std::vector<double> values;
    for (std::size_t i = 1; i < table_.inferences.size(); ++i) {
      const auto& bytes = table_.inferences[i].bytes[route];
      if (bytes) values.push_back(double(*bytes));
    }
    if (!values.empty()) table_.bytes[route] = whole(median(std::move(values)));
  }
  // A twentieth of the matrix work without a figure leaves the verdict as it is.
  constexpr double negligible = 0.05;
  all.macs_known = hmx_without_macs <= negligible * all.hmx_ticks;
  if (all.all_macs() == 0 && all.hmx_ticks == 0) {
    all.macs_known = hvx_units_ + hmx_units_ > 0;  // else nothing says what was computed
  }
  all = work_with_units(all);
  if (const auto bytes = ddr_bytes(table_.bytes)) all.ddr_bytes = double(*bytes);
  if (const auto bytes = vtcm_bytes(table_.bytes)) all.vtcm_bytes = double(*bytes);
  table_.placement = place_under(table_.roofs, all);
}

void MemoryAnalysis::rank() {
  table_.rows = std::move(groups_.rows);
  std::erase_if(table_.rows, [](const MemoryRow& row) {
    const bool moved = std::any_of(row.bytes.begin(), row.bytes.end(),
                                   [](const auto& bytes) { return bytes.value_or(0) > 0; });
    return !moved && row.spans == 0;
  });
  std::stable_sort(
      table_.rows.begin(), table_.rows.end(), [](const MemoryRow& a, const MemoryRow& b) {
        const auto key = [](const MemoryRow& row) {
          return std::tuple(ddr_bytes(row.bytes).value_or(0), vtcm_bytes(row.bytes).value_or(0),
                            at(row.bytes, Route::multicast).value_or(0));
        };
        return key(a) > key(b);
      });
}

MemoryTable MemoryAnalysis::finish() {
  find_engines();
  find_inferences();
  take_told_wall();
  sum_inferences();
  make_roofs_of_profile();
  find_threads();
  sort_rows();
  parallel_for(groups_.rows.size(), [&](std::size_t group) {
    MemoryRow& row = groups_.rows[group];
    for (std::uint32_t i = first_[group]; i < first_[group + 1]; ++i) {
      row.spans += role_of(sorted_[i].kind) == Role::work;
    }
    if (!table_.inferences.empty()) fill(row, cells_of(group));
  });
  fill_without_timeline();
  take_model();
  sum_up();
  table_.macs_origin = macs_.origin();
  table_.matrix_ops_without_macs = macs_.unknown();
  rank();
  return std::move(table_);
}

}  // namespace

MemoryTable analyse_memory(const Profile& profile, const OpTraffic& traffic,
                           const MemoryOptions& options) {
  return MemoryAnalysis(profile, traffic, options).finish();
}

}  // namespace npuscope::analysis
