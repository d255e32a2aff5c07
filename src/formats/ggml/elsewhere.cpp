#include "formats/ggml/elsewhere.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace npuscope::ggml {
namespace {

constexpr NamedNumber model_ops{"ops of the graph", NumberQuantity::count, NumberRole::model_nodes};

std::set<std::uint32_t> graphs_of(const Log& log, const Steps& steps, const StepGroup& group) {
  const std::set<std::uint32_t> of_group(group.steps.begin(), group.steps.end());
  std::set<std::uint32_t> graphs;
  for (std::size_t i = 0; i < log.batches.size(); ++i) {
    const bool is_known = log.batches[i].graph < log.coverage.graphs().size();
    if (is_known && of_group.contains(steps.of_batch[i])) graphs.insert(log.batches[i].graph);
  }
  return graphs;
}

// "ffn_out-3" as the ops on the NPU have it: "blk.3.ffn_out".
std::string label_of(std::string_view tensor) {
  const auto named = parse_operation(fmt::format("|a -> {}|1:1 -> 1:1|f32|", tensor));
  if (!named || !named->layer || named->outputs.empty()) return std::string(tensor);
  const std::string_view base = tensor.substr(0, tensor.rfind('-'));
  return fmt::format("blk.{}.{}", *named->layer, base);
}

}  // namespace

void add_ops_elsewhere(const Log& log, const Steps& steps, const StepGroup& group,
                       Profile& profile) {
  std::vector<PlacedOp> placed;
  std::uint64_t ops = 0;
  const std::set<std::uint32_t> graphs = graphs_of(log, steps, group);
  for (const std::uint32_t graph : graphs) {
    const PlacedGraph& each = log.coverage.graphs()[graph];
    ops = std::max(ops, each.ops);
    placed.insert(placed.end(), each.elsewhere.begin(), each.elsewhere.end());
  }
  // What one session refuses may be another's.
  if (graphs.empty() && log.sessions.size() == 1) placed = log.coverage.refused_ops();
  std::set<std::pair<std::string, std::string>> seen;
  for (const PlacedOp& each : placed) {
    if (!seen.insert({each.op, each.tensor}).second) continue;
    Op op;
    op.name = op.node = profile.strings.intern(label_of(each.tensor));
    op.kind = op.node_kind = profile.strings.intern(each.op);
    op.attributes = profile.strings.intern(log.coverage.reason_of(each));
    op.engine = Engine::host;
    profile.ops.push_back(op);
  }
  if (ops > 0) {
    profile.add_measure(Measure::Subject::profile, 0, model_ops.not_additive(), Origin::measured,
                        profile.base_clock, double(std::max<std::uint64_t>(ops, seen.size())));
  }
}

}  // namespace npuscope::ggml
