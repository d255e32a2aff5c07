#include "report/graph/expected_graph.hpp"

#include "npu/graph/semantics.hpp"

namespace npuscope::report {
namespace {

analysis::ExpectedRole role_of(const npu::Graph& model, const npu::Node& node) {
  switch (npu::classify(model, node)) {
    case npu::OpClass::folded: return analysis::ExpectedRole::folded;
    case npu::OpClass::view: return analysis::ExpectedRole::view;
    default: return analysis::ExpectedRole::executes;
  }
}

std::vector<std::uint32_t> numbers_of(const std::vector<npu::TensorId>& tensors) {
  std::vector<std::uint32_t> numbers;
  for (const npu::TensorId tensor : tensors) {
    if (tensor != npu::TensorId::none) numbers.push_back(std::uint32_t(tensor));
  }
  return numbers;
}

}  // namespace

analysis::ExpectedGraph expected_graph(const npu::Graph& model) {
  analysis::ExpectedGraph expected;
  expected.name = model.name;
  for (const npu::Tensor& tensor : model.tensors) {
    expected.tensors.push_back({tensor.name, tensor.shape, tensor.constant,
                                tensor.producer == npu::NodeId::none
                                    ? analysis::no_node
                                    : std::uint32_t(tensor.producer)});
  }
  for (const npu::Node& node : model.nodes) {
    expected.nodes.push_back({node.name, node.op, role_of(model, node), numbers_of(node.inputs),
                              numbers_of(node.outputs)});
  }
  expected.outputs = numbers_of(model.outputs);
  return expected;
}

}  // namespace npuscope::report
