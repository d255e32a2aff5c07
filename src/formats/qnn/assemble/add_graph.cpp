#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "formats/qnn/assemble/assembly.hpp"

namespace npuscope::qnn {
namespace {

class GraphAssembler {
 public:
  GraphAssembler(Assembly& assembly, const HtpGraph& graph)
      : assembly_(assembly), profile_(assembly.profile), graph_(graph) {}

  void assemble() {
    const bool timeline = profile_.spans.size() > 0;
    const bool traffic_known = profile_.spans.measure(NumberRole::ddr_read) != nullptr;
    for (const TensorUse& use : profile_.tensor_uses) {
      if (index_of(use.consumer) < profile_.ops.size()) linked_.resize(profile_.ops.size(), false);
      linked_[index_of(use.consumer)] = true;
    }
    for (const GraphNode& node : graph_.nodes) {
      const OpId op = op_of(node);
      op_of_node_.push_back(op);
      if (!timeline) add_cycles(node, index_of(op));
    }
    if (!traffic_known) add_traffic();
    find_owners();
    for (const GraphTensor& tensor : graph_.tensors) add_tensor(tensor);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) add_uses(graph_.nodes[i], op_of_node_[i]);
    if (!timeline && !graph_.nodes.empty()) {
      const bool has_cycles = graph_.origin == Origin::measured;
      if (!has_cycles) return;
      assembly_.losses.add(Severity::info, 0,
                           "a compiled graph names no lanes, so it has no timeline; cycles are of "
                           "one slice where an op is sliced");
    }
  }

 private:
  std::string_view text(StringId id) const { return graph_.strings[id]; }
  StringId copy(StringId id) { return assembly_.intern(text(id)); }

  OpId op_of(const GraphNode& node) {
    auto known = assembly_.find_op(node.id);
    if (!known) known = add_op(node);
    Op& op = profile_.ops[index_of(*known)];
    if (op.memory == StringId::empty) op.memory = assembly_.intern(written_memory(node.traffic));
    if (op.node == StringId::empty) op.node = copy(node.qnn_op);
    if (op.node_kind == StringId::empty) op.node_kind = copy(node.qnn_op_type);
    if (op.name == op.kind) op.name = op.label();  // an estimate knows the kernel alone
    if (op.attributes == StringId::empty) op.attributes = copy(node.flags);
    return *known;
  }

  OpId add_op(const GraphNode& node) {
    OpFlags flags;
    add_flag(flags, text(node.flags));
    Op op;
    op.name = copy(node.qnn_op != StringId::empty ? node.qnn_op : node.htp_op);
    op.kind = copy(node.htp_op);
    op.node = copy(node.qnn_op);
    op.node_kind = copy(node.qnn_op_type);
    op.attributes = copy(node.flags);
    op.position = std::uint32_t(profile_.ops.size());
    op.id = node.id;
    op.engine = flags.null_exec ? Engine::none : flags.engine();
    const OpId id{std::uint32_t(profile_.ops.size())};
    profile_.ops.push_back(op);
    if (assembly_.ops.empty()) assembly_.ops.resize(1);
    assembly_.ops[0].try_emplace(node.id, id);
    return id;
  }

  void measure(std::uint32_t op, const NamedNumber& number, std::int64_t value) {
    if (value == missing) return;
    profile_.add_measure(Measure::Subject::op, op, number, graph_.origin, assembly_.cycles,
                         double(value));
  }

  void add_cycles(const GraphNode& node, std::uint32_t op) {
    measure(op, number::cycles, node.cycles);
    measure(op, number::dominant_path, node.dominant_path);
    if (node.cycles != missing) {
      measure(op, number::packets, packets_of(node.cycles, node.cycles_per_packet));
    }
  }

  // Of some ops that execute (OutputSlice, spills) the graph has no node. What they move is known
  // of none of them, so that a kind of traffic that no node has is not 0 but unknown.
  void add_traffic() {
    const std::uint64_t without_node = executed_ops_without_node();
    bool any = false;
    for (std::size_t kind = 0; kind < Traffic::kinds; ++kind) {
      const bool moved =
          std::any_of(graph_.nodes.begin(), graph_.nodes.end(),
                      [&](const auto& node) { return node.traffic.bytes[kind] > 0; });
      if (!moved && without_node > 0) continue;
      any = any || moved;
      for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
        measure(index_of(op_of_node_[i]), number::traffic[kind],
                graph_.nodes[i].traffic.bytes[kind]);
      }
    }
    if (any && without_node > 0) {
      assembly_.losses.add(Severity::info, 0,
                           "executed ops have no node in the graph: sums of its DDR and VTCM "
                           "traffic are lower bounds, and a kind that no node has is unknown",
                           without_node);
    }
  }

  std::uint64_t executed_ops_without_node() const {
    std::vector<bool> lacks(profile_.ops.size(), false);
    for (const OpId op : profile_.spans.op) {
      if (op != OpId::none) lacks[index_of(op)] = true;
    }
    for (const OpId op : op_of_node_) lacks[index_of(op)] = false;
    return std::uint64_t(std::count(lacks.begin(), lacks.end(), true));
  }

  void find_owners() {
    for (const GraphNode& node : graph_.nodes) owners_.insert(std::uint32_t(node.id));
  }

  // A $Shape is static like a $Const, and only the trace names it. The lower half of a constant's
  // id is its owner in the QNN graph, that of a shape a hash.
  bool is_shape(const GraphTensor& from) const {
    constexpr std::uint32_t max_owners = std::uint32_t{1} << 20;
    constexpr std::int64_t int32 = 0x0032;
    const auto owner = std::uint32_t(from.id);
    return from.is_constant && from.data_type == int32 && owner >= max_owners &&
           !owners_.contains(owner);
  }

  void add_tensor(const GraphTensor& from) {
    Tensor& tensor = assembly_.tensor(from.id);
    tensor.is_shape = tensor.is_shape || from.is_shape || (!tensor.is_constant && is_shape(from));
    tensor.is_constant = tensor.is_constant || (from.is_constant && !tensor.is_shape);
    if (tensor.shape == StringId::empty) assembly_.set_shape(tensor, graph_.shapes[from.dims]);
    if (tensor.type == StringId::empty) {
      tensor.type = from.type != StringId::empty
                        ? copy(from.type)
                        : assembly_.intern(name_of_data_type(from.data_type));
    }
    if (tensor.name == StringId::empty && from.is_constant) {
      tensor.name = assembly_.intern(
          fmt::format("{}_{:x}", tensor.is_shape ? "$Shape" : "$Const", std::uint32_t(from.id)));
    }
    if (tensor.size.value == 0 && !tensor.is_shape) {
      tensor.size = assembly_.bytes_of(tensor.extents, tensor.type);
    }
  }

  void add_uses(const GraphNode& node, OpId op) {
    Op& row = profile_.ops[index_of(op)];
    for (std::uint32_t i = 0; i < node.outputs; ++i) {
      const std::uint64_t id = graph_.uses[node.first_output + i];
      Tensor& tensor = assembly_.tensor(id);
      tensor.producer = op;
      tensor.memory = row.memory;
      if (tensor.name == StringId::empty) tensor.name = row.node;
      if (row.shape == StringId::empty) {
        row.shape = tensor.shape;
        row.extents = tensor.extents;
        row.types = tensor.type;
        row.output = tensor.size;
      }
      assembly_.ops[row.core].try_emplace(id, op);
    }
    if (index_of(op) < linked_.size() && linked_[index_of(op)]) return;  // the trace has said so
    const auto first = graph_.uses.begin() + node.first_input;
    add_inputs(assembly_, op, row.core, {first, first + node.inputs});
  }

  Assembly& assembly_;
  Profile& profile_;
  const HtpGraph& graph_;
  std::vector<OpId> op_of_node_;
  std::vector<bool> linked_;                  // by op: whether its inputs are known
  std::unordered_set<std::uint32_t> owners_;  // ops of the QNN graph that have a node
};

}  // namespace

void add_graph(Assembly& assembly, const HtpGraph& graph) {
  GraphAssembler(assembly, graph).assemble();
}

void add_run_trace(Assembly& assembly, const RunTrace& trace) {
  Profile& profile = assembly.profile;
  for (const RunPhase& from : trace.phases) {
    Phase phase;
    phase.name = assembly.intern(trace.name_of(from));
    phase.instance = from.inference;
    phase.unit = assembly.core_unit(from.core);
    phase.start = from.start_cycle;
    phase.duration = from.end_cycle - from.start_cycle;
    phase.microseconds = from.microseconds();
    profile.phases.push_back(phase);
  }
  if (trace.inferences > 1 && profile.spans.size() > 0) {
    assembly.losses.add(Severity::info, 0,
                        "ops are of the first execute only, which is cold: structure, not speed");
  }
}

}  // namespace npuscope::qnn
