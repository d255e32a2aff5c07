#include "npuscope/analysis/memory.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/answers.hpp"
#include "analysis/memory/memory_analysis.hpp"
#include "base/parallel.hpp"
#include "base/sort_rows.hpp"

namespace npuscope::analysis {
Work MemoryAnalysis::work_with_units(Work work) const {
  work.hvx_units = hvx_units_;
  work.hmx_units = hmx_units_;
  return work;
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

// Node names reach the device with other signs in place of slashes and dots. A row of several nodes
// takes the model's MACs when it names them all.
void MemoryAnalysis::take_model() {
  if (options_.model.empty()) return;
  struct OfRow {
    std::uint32_t nodes = 0, named = 0;
    double macs = 0;
  };
  std::vector<OfRow> of_row(groups_.rows.size());
  std::unordered_map<std::string, std::vector<std::uint32_t>> rows_of;
  for (const auto& [node, row] : groups_.nodes) {
    rows_of[plain_node_name(node)].push_back(row);
    of_row[row].nodes += 1;
  }
  for (const NodeMacs& node : options_.model) {
    if (!(node.macs > 0)) continue;
    table_.model_nodes += 1;
    table_.model_macs += node.macs;
    const auto found = rows_of.find(plain_node_name(node.name));
    if (found == rows_of.end() || found->second.size() != 1) continue;
    OfRow& row = of_row[found->second.front()];
    row.named += 1;
    row.macs += node.macs;
  }
  for (std::size_t i = 0; i < of_row.size(); ++i) {
    if (of_row[i].named == 0 || of_row[i].named != of_row[i].nodes) continue;
    table_.model_nodes_matched += of_row[i].named;
    table_.model_macs_matched += of_row[i].macs;
    Work& work = groups_.rows[i].work;
    if (work.macs_known && work.all_macs() > 0) {
      const double ratio = of_row[i].macs / work.all_macs();
      table_.rows_with_both += 1;
      table_.rows_that_differ += ratio < 0.5 || ratio > 2;
    }
    const auto most = std::max_element(work.macs.begin(), work.macs.end());
    const auto precision =
        *most > 0 ? std::size_t(most - work.macs.begin()) : std::size_t(Precision::fp16);
    work.macs = {};
    work.macs[precision] = of_row[i].macs;
    work.macs_known = true;
    groups_.rows[i].macs_of_model = true;
  }
}

void MemoryAnalysis::sum_up_bytes() {
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
    if (!values.empty()) table_.bytes[route] = rounded(median_with(std::move(values)));
  }
}

void MemoryAnalysis::sum_up() {
  Work& all = table_.work;
  all.ticks = table_.wall;
  all.macs_known = true;
  double hmx_without_macs = 0, instrumentation = 0;
  std::optional<double> ddr_bytes_per_tick;  // of the run, where nobody knows when they moved
  if (!issues_.empty() && table_.wall > 0) {
    if (const auto bytes = ddr_bytes(table_.bytes))
      ddr_bytes_per_tick = double(*bytes) / table_.wall;
  }
  for (MemoryRow& row : groups_.rows) {
    Work& work = row.work;
    work = work_with_units(work);
    work.ticks = row.active;
    if (const auto bytes = ddr_bytes(row.bytes)) work.ddr_bytes = double(*bytes);
    if (const auto bytes = vtcm_bytes(row.bytes)) {
      work.vtcm_bytes = double(std::max<std::int64_t>(0, *bytes - row.vtcm_bytes_ahead));
    }
    if (ddr_bytes_per_tick) {
      work.ddr_bytes_of_all = *ddr_bytes_per_tick * std::max(work.ticks, work.ddr_ticks);
    }
    row.placement = place_under(table_.roofs, work);
    all.hvx_ticks += work.hvx_ticks;
    all.hmx_ticks += work.hmx_ticks;
    for (std::size_t i = 0; i < precision_count; ++i) all.macs[i] += work.macs[i];
    instrumentation += row.instrumentation;
    if (!work.macs_known) hmx_without_macs += work.hmx_ticks - row.instrumentation;
  }
  // A twentieth of the matrix work without a figure leaves the verdict as it is.
  constexpr double negligible = 0.05;
  all.macs_known = hmx_without_macs <= negligible * (all.hmx_ticks - instrumentation);
  if (all.all_macs() == 0 && all.hmx_ticks <= instrumentation) {
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
  table_.moves_bytes = std::any_of(table_.rows.begin(), table_.rows.end(), [](const auto& row) {
    return std::any_of(row.bytes.begin(), row.bytes.end(),
                       [](const auto& bytes) { return bytes.value_or(0) > 0; });
  });
  sort_rows(table_.rows.begin(), table_.rows.end(), [&](const MemoryRow& a, const MemoryRow& b) {
    if (!table_.moves_bytes) return a.work.all_macs() > b.work.all_macs();
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
  ops_ = Grouped<>(profile_.ops.size() + 1, groups_.rows.size(),
                   [&](std::size_t op) { return groups_.of(OpId(std::uint32_t(op))); });
  find_issues();
  find_ddr_use();
  const std::unordered_set<std::string_view> only(options_.only_rows.begin(),
                                                  options_.only_rows.end());
  parallel_for(groups_.rows.size(), [&](std::size_t group) {
    if (!only.empty() && !only.contains(groups_.rows[group].label)) return;
    const MemoryCells cells = cells_of(group);
    if (!table_.inferences.empty()) fill(groups_.rows[group], cells);
  });
  fill_without_timeline();
  take_model();
  sum_up_bytes();
  sum_up();
  table_.macs_origin = macs_.origin();
  table_.matrix_ops_without_macs = macs_.unknown();
  rank();
  return std::move(table_);
}

MemoryTable find_memory(const Analysis& analysis, const MemoryOptions& options) {
  return MemoryAnalysis(analysis, options).finish();
}

}  // namespace npuscope::analysis
