#include "analysis/ops/op_bounds.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace npuscope::analysis {

const char* name_of(const OpBound& bound) {
  switch (bound.kind) {
    case BoundKind::unknown: break;
    case BoundKind::resource:
      if (bound.resource == Resource::hmx) return "HMX";
      if (bound.resource == Resource::hvx) return "HVX";
      return name_of(bound.resource);
    case BoundKind::movement: return "DMA";
    case BoundKind::waiting: return "waiting";
    case BoundKind::latency: return "latency";
    case BoundKind::engine: return name_of(bound.engine);
    case BoundKind::window: return name_of(bound.window);
  }
  return "";
}

const char* source_of(BoundKind kind) {
  constexpr const char* names[] = {"",         "roofline", "movement", "waits",
                                   "roofline", "work",     "windows"};
  return names[std::size_t(kind)];
}

namespace {

std::optional<MemoryGrouping> memory_grouping(Grouping grouping) {
  switch (grouping) {
    case Grouping::op: return MemoryGrouping::op;
    case Grouping::node: return MemoryGrouping::node;
    case Grouping::kind: return MemoryGrouping::kind;
    default: return std::nullopt;
  }
}

OpBound bound_of(const OpTable& table, const OpRow& row, const MemoryRow* memory) {
  const Placement* placement = memory ? &memory->placement : nullptr;
  const RooflineVerdict verdict = placement ? placement->verdict : RooflineVerdict::unknown;
  const bool is_resource = verdict == RooflineVerdict::compute ||
                           verdict == RooflineVerdict::memory ||
                           verdict == RooflineVerdict::dispatch;
  if (is_resource && placement->largest) return {BoundKind::resource, *placement->largest};
  const auto value = [&](const char* name) {
    const auto place = table.place_of(name);
    return place ? row.values[*place].value_or(0) : 0;
  };
  if (memory && memory->work.mostly_moves()) return {BoundKind::movement};
  if (value("waiting") > value("work")) return {BoundKind::waiting};
  if (verdict == RooflineVerdict::latency) return {BoundKind::latency};
  const Domain domain = row.engines.empty() ? Domain::other : domain_of(row.engines.front());
  const bool is_of_one = is_of_device(domain) && row.engine_share >= bound_share;
  if (is_of_one) return {BoundKind::engine, Resource::macs, row.engines.front()};
  return {};
}

}  // namespace

std::vector<OpBound> op_bounds(const Analysis& analysis, const OpTable& table, Grouping grouping,
                               MemoryOptions options) {
  MemoryTable memory;
  std::unordered_map<std::string_view, const MemoryRow*> memory_rows;
  const auto of_memory = memory_grouping(grouping);
  if (of_memory && table.wall > 0 && !table.rows.empty()) {
    options.grouping = *of_memory;
    options.movement = true;
    for (const OpRow& row : table.rows) options.only_rows.push_back(row.name);
    memory = analysis.memory(options);
    for (const MemoryRow& row : memory.rows) memory_rows.try_emplace(row.label, &row);
  }
  const OpWindows windows =
      grouping == Grouping::op ? find_op_windows(analysis, options.peaks) : OpWindows{};
  std::vector<OpBound> bounds;
  for (const OpRow& row : table.rows) {
    const auto window = std::ranges::find(windows.rows, row.name, &OpWindow::label);
    if (window != windows.rows.end()) {
      const WindowBound bound =
          window->bound == WindowBound::mixed ? WindowBound::unknown : window->bound;
      bounds.push_back({bound == WindowBound::unknown ? BoundKind::unknown : BoundKind::window,
                        Resource::macs, Engine::none, bound});
      continue;
    }
    const auto found = memory_rows.find(row.name);
    bounds.push_back(bound_of(table, row, found == memory_rows.end() ? nullptr : found->second));
  }
  return bounds;
}

}  // namespace npuscope::analysis
