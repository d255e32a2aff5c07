#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/text.hpp"
#include "formats/qnn/assemble/assembly.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::qnn {

namespace {

std::int64_t sum(std::int64_t a, std::int64_t b) {
  return a == missing ? b : b == missing ? a : saturating_add(a, b);
}

}  // namespace

void add_estimate_rows(Assembly& assembly, const EstimateRows& rows) {
  const bool has_trace = assembly.profile.spans.size() > 0;
  const auto add = [&](const NamedNumber& number, ClockId clock, std::int64_t value) {
    if (value == missing) return;
    assembly.profile.add_measure(Measure::Subject::profile, 0, number, Origin::estimated, clock,
                                 double(value));
  };
  if (!has_trace) add(number::estimated_wall, assembly.cycles, rows.cycles);
  if (!has_trace && rows.microseconds != missing && rows.microseconds > 0) {
    add(number::estimated_time, assembly.microseconds(), rows.microseconds);
  }
  if (!has_trace) {
    add(number::traffic[0], {}, sum(rows.input_fill, rows.fill));
    add(number::traffic[1], {}, sum(rows.output_spill, rows.spill));
  }
  add(number::wall_lower, assembly.cycles, rows.lower);
  add(number::wall_upper, assembly.cycles, rows.upper);
  add(number::input_fill, {}, rows.input_fill);
  add(number::fill, {}, rows.fill);
  add(number::spill, {}, rows.spill);
  add(number::output_spill, {}, rows.output_spill);
  add(number::ops_without_estimate, {}, rows.ops_without_estimate);
}

void add_schematic(Assembly& assembly, const Schematic& schematic) {
  Profile& profile = assembly.profile;
  for (const OrderEdge& edge : schematic.order) {
    const auto from = assembly.find_op(edge.from), to = assembly.find_op(edge.to);
    if (from && to) profile.edges.push_back({*from, *to, EdgeKind::order});
  }
  const bool peak_known = std::ranges::any_of(profile.measures, [](const Measure& measure) {
    return measure.meaning.role == NumberRole::vtcm_peak;
  });
  if (schematic.vtcm_end != missing && !peak_known) {
    profile.add_measure(Measure::Subject::profile, 0, number::vtcm_end, Origin::estimated, {},
                        double(schematic.vtcm_end));
  }
}

void add_framework_trace(Assembly& assembly, const FrameworkTrace& trace, std::string_view graph) {
  Profile& profile = assembly.profile;
  const auto add_op = [&](const std::string& name, const std::string& type) -> Op& {
    Op op;
    op.name = op.node = assembly.intern(printable(name));
    op.kind = op.node_kind = assembly.intern(printable(type));
    op.position = std::uint32_t(profile.ops.size());
    return profile.ops.emplace_back(op);
  };
  const FrameworkTrace::Graph* mapped = trace.find(graph);
  if (mapped == nullptr && trace.graphs.size() == 1) mapped = &trace.graphs.front();
  const bool has_ops = !profile.ops.empty();
  std::unordered_map<StringId, StringId> type_of;
  if (mapped != nullptr) {
    for (const FrameworkTrace::MappedOp& op : mapped->ops) {
      if (!has_ops) add_op(op.name, op.type);
      type_of[assembly.intern(op.name)] = assembly.intern(printable(op.type));
    }
  }
  for (Op& op : profile.ops) {
    const auto type = type_of.find(op.node);
    if (op.node_kind == StringId::empty && type != type_of.end()) op.node_kind = type->second;
  }
  for (const FrameworkTrace::LeftOut& node : trace.left_out) {
    Op& op = add_op(node.name, node.type);
    op.engine = Engine::host;
    op.attributes = assembly.intern(printable(node.reason));
  }
  if (trace.nodes > 0) {
    profile.add_measure(Measure::Subject::profile, 0, number::model_nodes, Origin::estimated, {},
                        double(trace.nodes));
  }
}

}  // namespace npuscope::qnn
