#include "npu/graph/import_onnx.hpp"
#include "npu/graph/semantics.hpp"
#include "report/memory/memory_document.hpp"

namespace npuscope::report {

Result<std::vector<analysis::NodeMacs>> macs_of_model(const std::string& file,
                                                      const std::vector<std::string>& symbols) {
  npu::ImportOptions options;
  options.allow_unknown = true;  // they have no MACs to be counted
  for (const std::string& definition : symbols) {
    auto symbol = npu::parse_symbol(definition);
    if (!symbol) return tl::unexpected(symbol.error());
    options.symbols.insert(std::move(*symbol));
  }
  const auto graph = npu::import_onnx_file(file, options);
  if (!graph) return tl::unexpected(graph.error());
  std::vector<analysis::NodeMacs> nodes;
  for (const npu::Node& node : graph->nodes) {
    const std::uint64_t macs = npu::multiply_accumulates(*graph, node);
    if (macs > 0) nodes.push_back({node.name, double(macs)});
  }
  return nodes;
}

}  // namespace npuscope::report
