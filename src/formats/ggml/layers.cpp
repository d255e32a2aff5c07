#include "formats/ggml/layers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace npuscope::ggml {
namespace {

bool hands_on_to(const Operation& operation, const Operation& next) {
  return std::ranges::any_of(operation.outputs, [&](const Tensor& output) {
    return std::ranges::find(next.inputs, output.name, &Tensor::name) != next.inputs.end();
  });
}

}  // namespace

std::vector<Layer> find_layers(const Log& log) {
  std::vector<Layer> layers(log.operations.size());
  std::vector<bool> is_known(log.operations.size(), false);
  for (const Batch& batch : log.batches) {
    std::optional<int> before;
    for (std::uint32_t i = 0; i < batch.runs; ++i) {
      const std::uint32_t number = log.runs[batch.first_run + i].operation;
      const Operation& operation = log.operations[number];
      if (is_known[number]) {
        before = layers[number].number;
        continue;
      }
      is_known[number] = true;
      std::optional<int>& layer = layers[number].number;
      layer = operation.layer;
      if (!layer && !operation.is_of_no_layer) {
        layer = before;
        // A norm before the output: its result is of what it is handed on to.
        const bool has_next = i + 1 < batch.runs;
        const Operation* next =
            has_next ? &log.operations[log.runs[batch.first_run + i + 1].operation] : nullptr;
        if (next != nullptr && hands_on_to(operation, *next)) {
          if (next->layer) layer = next->layer;
          if (next->is_of_no_layer) layer.reset();
        }
      }
      before = layer;
    }
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string& role = log.operations[i].role;
    layers[i].label = layers[i].number ? fmt::format("blk.{}.{}", *layers[i].number, role) : role;
  }
  return layers;
}

}  // namespace npuscope::ggml
