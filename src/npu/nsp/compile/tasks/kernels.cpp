#include "npu/nsp/compile/tasks/kernels.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "npu/nsp/compile/tasks/device_tensor.hpp"

namespace npuscope::npu::nsp {
namespace {

bool has_splat_operand(const Graph& graph, const Node& node) {
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](TensorId id) {
    return id != TensorId::none && graph[id].constant && graph[id].elements() == 1;
  });
}

// Division by a known scalar is a multiplication; a scalar divided by a tensor is not.
bool divides_by_splat(const Graph& graph, const Node& node) {
  const TensorId divisor = node.inputs.size() > 1 ? node.inputs[1] : TensorId::none;
  return divisor != TensorId::none && graph[divisor].constant && graph[divisor].elements() == 1;
}

bool broadcasts(const Graph& graph, const Node& node) {
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](TensorId id) {
    return id != TensorId::none && graph[id].elements() != graph[node.outputs[0]].elements();
  });
}

std::string elementwise_kernel(const Graph& graph, const Node& node) {
  static const std::map<std::string, std::string, std::less<>> names{
      {"Relu", "elementmax"},
      {"Clip", "elementmax"},
      {"Max", "elementmax"},
      {"Min", "elementmin"},
      {"Cast", "convertto"},
      {"CastLike", "convertto"},
      {"QuantizeLinear", "convertto"},
      {"DequantizeLinear", "convertto"},
      {"DynamicQuantizeLinear", "convertto"},
      {"Where", "elementselect"},
      {"Equal", "elementcompare"},
      {"Greater", "elementcompare"},
      {"Less", "elementcompare"},
      {"GreaterOrEqual", "elementcompare"},
      {"LessOrEqual", "elementcompare"},
      {"Reciprocal", "elementdiv"},
      {"FastGelu", "elementgelu"},
      {"QuickGelu", "elementgelu"},
      {"BiasGelu", "elementgelu"},
      {"Sum", "elementadd"},
      {"Sqrt", "elementsqrt"}};
  const bool splat = has_splat_operand(graph, node);
  if (node.op == "Add") {
    return splat ? "aicaddsplat" : broadcasts(graph, node) ? "aicbroadcastadd" : "elementadd";
  }
  if (node.op == "Sub" && splat) return "aicaddsplat";
  if (node.op == "Mul" && splat) return "aicmulsplat";
  if (node.op == "Div" && divides_by_splat(graph, node)) return "aicmulsplat";
  if (const auto found = names.find(node.op); found != names.end()) return found->second;
  std::string name = "element";
  for (char c : node.op) name += char(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

}  // namespace

std::string vector_kernel(const Graph& graph, const Node& node, OpClass op_class) {
  switch (op_class) {
    case OpClass::softmax: return "aicsoftmax";
    case OpClass::normalization:
      if (node.op == "BatchNormalization") return "aicbroadcastadd";
      return node.op == "LayerNormalization" || node.op == "SkipLayerNormalization"
                 ? "aiclayernormd32"
                 : "aicnormalizationpost";
    case OpClass::reduction:
      return node.op.find("Pool") != std::string::npos ? "aicavgpoold32" : "aicbatchedreduceadd";
    case OpClass::pooling: return node.op == "MaxPool" ? "aicmaxpoold32" : "aicavgpoold32";
    case OpClass::transpose: return "aictranspose";
    case OpClass::copy: return "aiccopysamevtcm";
    case OpClass::gather: return "aicgather";
    case OpClass::scatter: return "aicscatternd";
    case OpClass::sort: return node.op == "CumSum" ? "cumsum" : "aictopk";
    default: return elementwise_kernel(graph, node);
  }
}

std::uint64_t vector_cycles(const Target& target, const std::string& kernel,
                            std::uint64_t output_bytes) {
  const auto found = target.kernels.find(kernel);
  const KernelCost& cost = found != target.kernels.end() ? found->second : target.default_kernel;
  return std::uint64_t(
      std::llround(cost.overhead_cycles + double(output_bytes) / 1024 * cost.cycles_per_kib));
}

HmxWork hmx_work(const Target& target, const MatrixProduct& product, std::uint64_t rows,
                 std::uint64_t columns, bool integer) {
  const std::uint64_t grain = target.hmx_alignment;
  const std::uint64_t channels = divide_up(product.depth, product.kernel_area);
  HmxWork work;
  work.macs = round_up(rows, grain) * round_up(channels, grain) * product.kernel_area *
              round_up(columns, grain);
  const double rate = (integer ? target.hmx_macs_per_cycle_int8 : target.hmx_macs_per_cycle_fp16) *
                      target.hmx_efficiency;
  work.cycles = std::uint64_t(std::llround(target.hmx_overhead_cycles + double(work.macs) / rate));
  return work;
}

std::uint64_t hvx_product_cycles(const Target& target, std::uint64_t macs, DataType type) {
  const double rate = bits_of(type) <= 8    ? target.hvx_macs_per_cycle_int8
                      : bits_of(type) <= 16 ? target.hvx_macs_per_cycle_fp16
                                            : target.hvx_macs_per_cycle_fp32;
  return std::uint64_t(std::llround(target.default_kernel.overhead_cycles + double(macs) / rate));
}

}  // namespace npuscope::npu::nsp
