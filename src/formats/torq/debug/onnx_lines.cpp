#include "formats/torq/debug/onnx_lines.hpp"

#include <protozero/exception.hpp>

#include <algorithm>
#include <iterator>

#include "base/protobuf_fields.hpp"
#include "formats/torq/profile/place_names.hpp"

namespace npuscope::torq {
namespace {

constexpr std::size_t max_lines = 1'000'000;  // of no real model; a forged one has a line a byte

struct Node {
  std::string op_type;
  bool has_graphs = false;
};

Node node_of(std::string_view message) {
  Node node;
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case bytes_field(4): node.op_type = bytes_of(reader); break;
      case bytes_field(5): {  // an attribute, with a graph or several
        const std::string_view text = bytes_of(reader);
        protozero::pbf_reader attribute(text.data(), text.size());
        while (attribute.next()) {
          node.has_graphs |= attribute.tag_and_type() == bytes_field(6) ||
                             attribute.tag_and_type() == bytes_field(11);
          attribute.skip();
        }
        break;
      }
      default: reader.skip();
    }
  }
  return node;
}

std::vector<std::string> lines_of_graph(std::string_view message) {
  std::vector<Node> nodes;
  std::size_t initializers = 0;
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next() && nodes.size() + initializers < max_lines) {
    switch (reader.tag_and_type()) {
      case bytes_field(1): nodes.push_back(node_of(bytes_of(reader))); break;
      case bytes_field(5):
        ++initializers;
        reader.skip();
        break;
      default: reader.skip();
    }
  }
  std::vector<std::string> lines{"module {", "func.func"};
  lines.insert(lines.end(), initializers, "torch.operator \"onnx.Constant\"");
  lines.emplace_back("torch.constant.none");
  for (const Node& node : nodes) {
    if (node.has_graphs) break;
    lines.push_back("torch.operator \"onnx." + node.op_type + "\"");
  }
  return lines;
}

struct KernelOperator {
  std::string_view kernel, name;
  bool is_its_own = true;  // no operator of another kind is made of it
};
constexpr KernelOperator kernel_operators[] = {
    {"conv2d", "Conv"},   {"depthwise2d", "Conv"}, {"maxpool2d", "MaxPool"},
    {"matmul", "MatMul"}, {"add", "Add", false},   {"mul", "Mul", false},
};

}  // namespace

std::vector<std::string> lines_of_onnx(std::string_view model) {
  try {
    protozero::pbf_reader reader(model.data(), model.size());
    while (reader.next()) {
      if (reader.tag_and_type() == bytes_field(7)) return lines_of_graph(bytes_of(reader));
      reader.skip();
    }
  } catch (const protozero::exception&) {  // cut off, or not a model
  }
  return {};
}

KernelFit fit_of(std::string_view kernel, std::string_view name) {
  const std::string_view kind = kernel_without_number(kernel);
  const auto known = std::find_if(std::begin(kernel_operators), std::end(kernel_operators),
                                  [&](const KernelOperator& each) { return each.kernel == kind; });
  if (known == std::end(kernel_operators)) return KernelFit::unknown;
  if (name.find(known->name) != name.npos) return KernelFit::fits;
  return known->is_its_own ? KernelFit::contradicts : KernelFit::unknown;
}

}  // namespace npuscope::torq
