#include "npu/targets/nsp/compile/tasks/compile_context.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace npuscope::npu::nsp {
namespace {}  // namespace

std::uint64_t largest(const std::vector<std::uint64_t>& values) {
  return values.empty() ? 0 : *std::ranges::max_element(values);
}

DataType device_type(DataType type, bool convert_to_fp16) {
  const bool wide = type == DataType::float32 || type == DataType::float64;
  return convert_to_fp16 && wide ? DataType::float16 : type;
}

std::uint64_t device_bytes(std::uint64_t elements, DataType type) {
  const bool blocks = type == DataType::mxfp6 || type == DataType::mxint8;
  return divide_up(elements * bits_of(type), 8) + (blocks ? divide_up(elements, 32) : 0);
}

std::uint64_t even_part(std::uint64_t all, std::uint64_t index, std::uint64_t parts) {
  return all * (index + 1) / parts - all * index / parts;
}

std::uint64_t even_bytes(std::uint64_t bytes, std::uint64_t index, std::uint64_t parts,
                         DataType type) {
  const std::uint64_t element = std::max(bits_of(type) / 8, 1u);
  const auto begin = [&](std::uint64_t at) {
    return at == parts ? bytes : bytes / element * at / parts * element;
  };
  return begin(index + 1) - begin(index);
}

CoreBytes even_bytes(const CoreBytes& bytes, std::uint64_t index, std::uint64_t parts,
                     DataType type) {
  CoreBytes part;
  part.reserve(bytes.size());
  for (std::uint64_t of_core : bytes) part.push_back(even_bytes(of_core, index, parts, type));
  return part;
}

Partition partition_in_view(const Partition& partition, const Shape& view) {
  if (partition.axis < 0) return {view, partition.axis, 1};
  const std::uint64_t before = elements_of(partition.shape, std::size_t(partition.axis));
  const std::int64_t extent = partition.shape[std::size_t(partition.axis)];
  const Partition none{view, incompatible, 1};
  for (int axis = 0; axis < int(view.size()); ++axis) {
    const std::int64_t view_extent = view[std::size_t(axis)];
    if (view_extent <= 1 || elements_of(view, std::size_t(axis)) != before) continue;
    if (view_extent >= extent) {
      if (view_extent % extent != 0) return none;
      return {view, axis, partition.unit * (view_extent / extent)};
    }
    const std::int64_t inner = extent / view_extent;
    if (extent % view_extent != 0 || partition.unit % inner != 0) return none;
    return {view, axis, partition.unit / inner};
  }
  return none;
}

std::uint64_t share(std::int64_t extent, std::int64_t unit, std::uint32_t core,
                    std::uint32_t cores) {
  const std::uint64_t total = std::uint64_t(std::max<std::int64_t>(extent, 0));
  const std::uint64_t step = std::uint64_t(std::max<std::int64_t>(unit, 1));
  const std::uint64_t units = divide_up(total, step);
  const auto begin = [&](std::uint64_t at) {
    return std::min((units / cores * at + std::min(at, units % cores)) * step, total);
  };
  return begin(core + 1) - begin(core);
}

std::vector<std::uint64_t> shares(std::int64_t extent, std::int64_t unit, std::uint32_t cores) {
  std::vector<std::uint64_t> out(cores);
  for (std::uint32_t core = 0; core < cores; ++core) out[core] = share(extent, unit, core, cores);
  return out;
}

std::vector<std::uint64_t> slice_bytes(const Partition& partition, std::uint64_t bytes,
                                       std::uint32_t cores) {
  if (partition.axis < 0) return std::vector<std::uint64_t>(cores, bytes);
  const std::int64_t extent = partition.shape[std::size_t(partition.axis)];
  auto out = shares(extent, partition.unit, cores);
  const std::uint64_t per_element = extent > 0 ? bytes / std::uint64_t(extent) : 0;
  for (auto& share : out) share *= per_element;
  return out;
}

Shape slice_shape(const Partition& partition, std::uint32_t core, std::uint32_t cores) {
  Shape shape = partition.shape;
  if (partition.axis < 0) return shape;
  std::int64_t& extent = shape[std::size_t(partition.axis)];
  extent = std::int64_t(share(extent, partition.unit, core, cores));
  return shape;
}

bool satisfies(const Partition& held, const Partition& needed, std::uint32_t cores) {
  if (held.axis == replicated) return true;
  if (held.axis < 0 || held.axis != needed.axis) return false;
  const std::int64_t extent = held.shape[std::size_t(held.axis)];
  return held.unit == needed.unit ||
         shares(extent, held.unit, cores) == shares(extent, needed.unit, cores);
}

namespace {

bool is_byte(DataType type) { return type == DataType::int8 || type == DataType::uint8; }

bool is_matrix(OpClass op_class) {
  return op_class == OpClass::matmul || op_class == OpClass::convolution;
}

// The tensor before a DequantizeLinear from bytes, or `id` itself.
TensorId before_dequantize(const Graph& graph, TensorId id) {
  const NodeId producer = graph[id].producer;
  if (producer == NodeId::none || graph[producer].op != "DequantizeLinear") return id;
  const TensorId source = graph[producer].inputs[0];
  return is_byte(graph[source].type) ? source : id;
}

bool is_graph_output(const Graph& graph, TensorId id) {
  return std::ranges::find(graph.outputs, id) != graph.outputs.end();
}

// The other operand of a two-operand node when it is a constant no larger than a bias.
TensorId constant_operand(const Graph& graph, const Node& node, TensorId data) {
  if (node.inputs.size() != 2) return TensorId::none;
  const TensorId other = node.inputs[0] == data ? node.inputs[1] : node.inputs[0];
  if (other == data || other == TensorId::none || !graph[other].constant) return TensorId::none;
  const Shape& shape = graph[node.outputs[0]].shape;
  const std::int64_t widest = shape.empty() ? 1 : *std::ranges::max_element(shape);
  return graph[other].elements() <= std::uint64_t(widest) ? other : TensorId::none;
}

}  // namespace

// The LayerNormalization whose result three products and one sum read, as those of a layer of
// attention do: the front end of QNN (MatMulAddFusion of ONNX Runtime) leaves their bias apart.
static NodeId attention_norm(const Graph& graph, TensorId id) {
  const NodeId norm = graph[id].producer;
  if (norm == NodeId::none || graph[norm].op != "LayerNormalization") return NodeId::none;
  // One that was written out was not there yet when biases were joined.
  if (graph[norm].int_attribute("written_out", 0) != 0) return NodeId::none;
  std::size_t products = 0, sums = 0;
  for (const NodeId reader : graph[id].consumers) {
    if (graph[reader].op == "MatMul")
      ++products;
    else if (graph[reader].op == "Add")
      ++sums;
    else
      return NodeId::none;
  }
  return products == 3 && sums == 1 ? norm : NodeId::none;
}

bool is_added_to_attention(const Graph& graph, const Node& add) {
  return add.op == "Add" &&
         std::ranges::any_of(graph[add.outputs[0]].consumers, [&](NodeId reader) {
           return graph[reader].op == "Add" &&
                  std::ranges::any_of(present(graph[reader].inputs), [&](TensorId id) {
                    return id != add.outputs[0] && attention_norm(graph, id) != NodeId::none;
                  });
         });
}

namespace {

// Whether `add`, a bias of the product that made `result`, is one of the four of such a layer.
bool keeps_apart(const Graph& graph, const Node& add, TensorId result) {
  const NodeId product = graph[result].producer;
  return is_added_to_attention(graph, add) ||
         (graph[product].op == "MatMul" &&
          attention_norm(graph, graph[product].inputs[0]) != NodeId::none);
}

bool is_for_softmax(const Graph& graph, TensorId id) {
  return std::ranges::any_of(graph[id].consumers,
                             [&](NodeId reader) { return graph[reader].op == "Softmax"; });
}

// A value for each channel of what is made: [C, 1, 1] and the like.
bool is_by_channel(const Graph& graph, TensorId constant, TensorId made) {
  const Shape &values = graph[constant].shape, &shape = graph[made].shape;
  if (shape.size() < 3 || values.size() > shape.size()) return false;
  const std::size_t missing = shape.size() - values.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != (i + missing == 1 ? shape[1] : 1)) return false;
  }
  return true;
}

// What QNN folds into a convolution: in floating point a factor, and a sum by channel, while
// nothing limits the result; of integers a factor that is one number, which is another scale.
bool joins_convolution(const Graph& graph, const Node& next, NodePlan& plan) {
  const TensorId constant = constant_operand(graph, next, plan.result);
  if (constant == TensorId::none) return false;
  const bool is_one = graph[constant].elements() == 1, is_factor = next.op == "Mul";
  if (plan.integer || graph[plan.result].scale) return is_factor && is_one;
  if (!is_one && !is_by_channel(graph, constant, plan.result)) return false;
  if (plan.is_limited || (!is_factor && is_one)) return false;
  if (!is_factor) plan.fused_constants.push_back(constant);
  return true;
}

// Tries to make `next`, the only consumer of the product's result so far, part of the product.
bool fuse(const Graph& graph, const Node& next, OpClass op_class, bool qnn, bool in_tiles,
          NodePlan& plan) {
  if (next.outputs.size() != 1) return false;
  // Others come out of their tiles before they are limited.
  const Shape& made = graph[plan.result].shape;
  const bool matrix = made.size() < 4 && !plan.integer && !in_tiles;
  const bool apart =
      matrix || (made.size() == 3 && !plan.integer && op_class == OpClass::convolution);
  if (next.op == "Relu" || next.op == "Clip") {
    plan.is_limited = true;
    return !qnn || !apart;
  }
  if (next.op == "QuantizeLinear") return true;
  if (next.op == "BatchNormalization" && op_class == OpClass::convolution) {
    // Integers that stand for other values lie between.
    if (qnn && graph[plan.result].scale) return false;
    const bool folds = std::all_of(next.inputs.begin() + 1, next.inputs.end(), [&](TensorId id) {
      return id == TensorId::none || graph[id].constant;
    });
    if (folds && next.inputs.size() > 2) plan.fused_constants.push_back(next.inputs[2]);
    return folds;
  }
  if (qnn && op_class == OpClass::convolution && (next.op == "Mul" || next.op == "Add"))
    return joins_convolution(graph, next, plan);
  if (qnn && (next.op == "Mul" || next.op == "Div")) {
    const TensorId factor = constant_operand(graph, next, plan.result);
    const bool scalar =
        factor != TensorId::none && graph[factor].elements() == 1 && factor == next.inputs.back();
    // In floating point a quotient of an image and a scaled matrix are operators of their own; that
    // of scores is part of the softmax that follows.
    const bool scales =
        op_class == OpClass::matmul ? is_for_softmax(graph, next.outputs[0]) : next.op == "Mul";
    return scalar && (plan.integer || scales);
  }
  if (next.op == "Add") {
    if (qnn && op_class == OpClass::matmul &&
        (plan.integer || keeps_apart(graph, next, plan.result)))
      return false;
    const TensorId bias = constant_operand(graph, next, plan.result);
    if (bias != TensorId::none) plan.fused_constants.push_back(bias);
    return bias != TensorId::none;
  }
  return false;
}

// Operators of one product whose operands stand where assign_operands looks for them.
bool is_simple_product(const Node& node) {
  static const std::set<std::string, std::less<>> simple{
      "MatMul", "Gemm",          "FusedMatMul", "MatMulInteger", "QLinearMatMul", "MatMulNBits",
      "Conv",   "ConvTranspose", "ConvInteger", "QLinearConv",   "FusedConv"};
  const bool quantized = node.op.starts_with("QLinear");
  return simple.contains(node.op) && node.outputs.size() == 1 &&
         node.inputs.size() >= (quantized ? 8u : 2u) && node.inputs[0] != TensorId::none &&
         node.inputs[quantized ? 3 : 1] != TensorId::none;
}

// Which inputs of a matrix node are the activation, the weights and the bias.
void assign_operands(const Graph& graph, const Node& node, NodePlan& plan) {
  const bool quantized = node.op == "QLinearConv" || node.op == "QLinearMatMul";
  const std::size_t weights = quantized ? 3 : 1;
  plan.activation = before_dequantize(graph, node.inputs[0]);
  plan.weights = before_dequantize(graph, node.inputs[weights]);
  plan.integer = is_byte(graph[plan.activation].type) && is_byte(graph[plan.weights].type);
  if (!plan.integer) plan.activation = node.inputs[0];
  const bool has_bias = node.op == "Conv" || node.op == "Gemm" || node.op == "ConvTranspose";
  if (has_bias && node.has_input(2)) plan.fused_constants.push_back(node.inputs[2]);
  if (node.op == "QLinearConv" && node.has_input(8)) plan.fused_constants.push_back(node.inputs[8]);
}

// `in_tiles`: by tensor, of QNN's graphs (single_rows.hpp).
void fuse_followers(const Graph& graph, const Node& node, const std::vector<bool>& in_tiles,
                    std::vector<NodePlan>& plans, NodePlan& plan) {
  const bool qnn = !in_tiles.empty();
  plan.result = node.outputs[0];
  while (!is_graph_output(graph, plan.result) && graph[plan.result].consumers.size() == 1) {
    const NodeId next_id = graph[plan.result].consumers[0];
    const Node& next = graph[next_id];
    if (std::ranges::count(next.inputs, plan.result) != 1) return;
    const bool tiles = qnn && in_tiles[std::uint32_t(plan.result)];
    if (!fuse(graph, next, plan.op_class, qnn, tiles, plan)) return;
    plans[std::uint32_t(next_id)].fate = NodeFate::fused;
    plan.result = next.outputs[0];
    if (next.op == "QuantizeLinear") return;
  }
}

// A DequantizeLinear whose consumers all take the bytes themselves costs nothing.
bool dequantize_vanishes(const Graph& graph, const Node& node, const std::vector<NodePlan>& plans) {
  if (node.op != "DequantizeLinear" || is_graph_output(graph, node.outputs[0])) return false;
  const auto& consumers = graph[node.outputs[0]].consumers;
  return !consumers.empty() && std::ranges::all_of(consumers, [&](NodeId id) {
    const NodePlan& plan = plans[std::uint32_t(id)];
    return is_matrix(plan.op_class) && plan.integer;
  });
}

// From channels first to channels last or back, of an image: an HTP has them last in both.
bool turns_image(const Graph& graph, const Node& node, const std::vector<bool>& images,
                 const std::vector<bool>& sequences) {
  if (node.op != "Transpose" || !node.has_input(0) || node.outputs.size() != 1) return false;
  const TensorId from = node.inputs[0], to = node.outputs[0];
  if (is_graph_output(graph, to)) return false;
  const auto order = node.ints_attribute("perm");
  if (order == Shape{0, 2, 1})
    return sequences[std::uint32_t(from)] != sequences[std::uint32_t(to)];
  return (order == Shape{0, 2, 3, 1} && images[std::uint32_t(from)] &&
          !images[std::uint32_t(to)]) ||
         (order == Shape{0, 3, 1, 2} && images[std::uint32_t(to)] && !images[std::uint32_t(from)]);
}

}  // namespace

std::vector<NodePlan> plan_nodes(const Graph& graph, bool qnn) {
  const std::vector<bool> images = qnn ? find_images(graph) : std::vector<bool>{};
  const std::vector<bool> sequences = qnn ? find_sequences(graph) : std::vector<bool>{};
  const std::vector<bool> in_tiles = qnn ? find_rows_in_tiles(graph) : std::vector<bool>{};
  std::vector<NodePlan> plans(graph.nodes.size());
  for (std::size_t i = 0; i < plans.size(); ++i) {
    plans[i].op_class = classify(graph, graph.nodes[i]);
    if (plans[i].op_class == OpClass::folded) plans[i].fate = NodeFate::folded;
    if (plans[i].op_class == OpClass::view) plans[i].fate = NodeFate::view;
    if (qnn && turns_image(graph, graph.nodes[i], images, sequences))
      plans[i].fate = NodeFate::view;
    if (!is_matrix(plans[i].op_class)) continue;
    plans[i].compound = !is_simple_product(graph.nodes[i]);
    if (!plans[i].compound) assign_operands(graph, graph.nodes[i], plans[i]);
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    NodePlan& plan = plans[i];
    if (is_matrix(plan.op_class) && plan.fate == NodeFate::execute && !plan.compound) {
      fuse_followers(graph, graph.nodes[i], in_tiles, plans, plan);
    }
    if (plan.fate == NodeFate::execute && dequantize_vanishes(graph, graph.nodes[i], plans)) {
      plan.fate = NodeFate::view;
    }
  }
  return plans;
}

}  // namespace npuscope::npu::nsp
