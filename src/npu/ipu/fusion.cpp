#include "npu/ipu/fusion.hpp"

#include <algorithm>

#include "npu/ipu/plan.hpp"

namespace npuscope::npu::ipu {
namespace {

constexpr std::size_t max_members = 3;

class Grouping {
 public:
  Grouping(const Lowered& lowered, std::uint64_t batch, const Target& target)
      : lowered_(lowered), batch_(batch), target_(target) {
    readers_.resize(lowered.graph.tensors.size());
    for (const Operator& op : lowered.operators) {
      for (const TensorId id : op.inputs) {
        if (id != TensorId::none) ++readers_[std::uint32_t(id)];
      }
    }
    for (const TensorId id : lowered.graph.outputs) ++readers_[std::uint32_t(id)];
  }

  std::vector<OperatorGroup> run() {
    for (std::size_t i = 0; i < lowered_.operators.size(); ++i) {
      const Operator& op = lowered_.operators[i];
      if (op.is_alias()) continue;
      const Work work = work_of(lowered_, op, batch_, target_);
      if (groups_.empty() || !join(groups_.back(), i, work)) groups_.push_back({i, 1, work});
    }
    return std::move(groups_);
  }

 private:
  static bool is_convolution(const Operator& op) {
    return op.type == "CONV_2D" || op.type == "DEPTHWISE_CONV_2D";
  }
  static bool is_elementwise(const Operator& op) {
    return op.op_class == OpClass::elementwise && op.type != "Fix2Float";
  }

  std::uint64_t elements(TensorId id) const { return lowered_.graph[id].elements(); }

  // Of 1 x 1, without strides, pads or groups.
  bool is_pointwise(const Operator& op) const {
    if (op.type != "CONV_2D" || op.node == NodeId::none) return false;
    const Node& node = lowered_.graph[op.node];
    if (matrix_product(lowered_.graph, node).kernel_area != 1) return false;
    const Shape& in = lowered_.graph[op.inputs[0]].shape;
    const Shape& out = lowered_.graph[op.outputs[0]].shape;
    return node.int_attribute("group", 1) == 1 &&
           std::equal(in.begin() + 2, in.end(), out.begin() + 2, out.end());
  }

  bool can_follow(const Operator& before, const Operator& op) const {
    const TensorId between = before.outputs[0];
    if (before.outputs.size() != 1 || op.outputs.size() != 1 ||
        readers_[std::uint32_t(between)] != 1 ||
        std::find(op.inputs.begin(), op.inputs.end(), between) == op.inputs.end()) {
      return false;
    }
    if (is_pointwise(op)) return is_convolution(before) && op.inputs[0] == between;
    return is_elementwise(op) && elements(op.outputs[0]) == elements(between);
  }

  bool join(OperatorGroup& group, std::size_t at, const Work& work) const {
    const Operator& op = lowered_.operators[at];
    const Operator& before = lowered_.operators[at - 1];
    if (group.count == max_members || group.first + group.count != at) return false;
    if (!is_convolution(before) && !is_elementwise(before) && before.type != "FULLY_CONNECTED") {
      return false;
    }
    // Divided by columns it would be on more cores.
    if (group.work.rows < target_.cores && group.work.columns >= target_.cores) return false;
    if (!can_follow(before, op) || work.resident_bytes > 0) return false;
    const Work joined = joined_work(group.work, work, before.outputs[0]);
    const std::uint64_t kept = joined.weight_bytes + joined.resident_bytes;
    if (kept > weight_room(target_) || tile_bytes(joined, {0, 1}) > tile_room(target_, kept)) {
      return false;
    }
    group.work = joined;
    ++group.count;
    return true;
  }

  static Work joined_work(Work group, const Work& member, TensorId between) {
    group.between_bytes += group.output_bytes;
    group.output_bytes = member.output_bytes;
    group.columns = 1;
    group.weight_bytes += member.weight_bytes;
    group.multiply_accumulates += member.multiply_accumulates;
    group.convs.insert(group.convs.end(), member.convs.begin(), member.convs.end());
    group.vectors.insert(group.vectors.end(), member.vectors.begin(), member.vectors.end());
    for (const Stream& stream : member.streams) {
      const bool is_there =
          std::any_of(group.streams.begin(), group.streams.end(),
                      [&](const Stream& each) { return each.tensor == stream.tensor; });
      if (stream.tensor != between && !is_there) group.streams.push_back(stream);
    }
    return group;
  }

  const Lowered& lowered_;
  std::uint64_t batch_;
  const Target& target_;
  std::vector<std::uint32_t> readers_;  // by tensor
  std::vector<OperatorGroup> groups_;
};

}  // namespace

std::vector<OperatorGroup> group_operators(const Lowered& lowered, std::uint64_t batch,
                                           const Target& target) {
  return Grouping(lowered, batch, target).run();
}

}  // namespace npuscope::npu::ipu
