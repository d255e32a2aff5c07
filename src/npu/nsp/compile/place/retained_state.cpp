#include "npu/nsp/compile/place/retained_state.hpp"

#include <map>
#include <string>

namespace npuscope::npu::nsp {

std::vector<bool> find_retained_state(const Graph& graph) {
  constexpr std::string_view suffix = "_RetainedState";
  std::vector<bool> retained(graph.tensors.size(), false);
  std::map<std::string, TensorId, std::less<>> inputs;
  for (TensorId id : graph.inputs) inputs.emplace(graph[id].name, id);
  for (TensorId id : graph.outputs) {
    const std::string_view name = graph[id].name;
    if (!name.ends_with(suffix)) continue;
    retained[std::size_t(id)] = true;
    const auto input = inputs.find(name.substr(0, name.size() - suffix.size()));
    if (input != inputs.end()) retained[std::size_t(input->second)] = true;
  }
  return retained;
}

}  // namespace npuscope::npu::nsp
