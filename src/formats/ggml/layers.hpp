// The layer of each operation, with what its own names do not tell: an op between two of a layer is
// of that layer too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/ggml/log.hpp"

namespace npuscope::ggml {

struct Layer {
  std::optional<int> number;  // none: of no layer
  std::string label;          // "blk.0.ffn_down", "output_norm"
};

// By operation.
std::vector<Layer> find_layers(const Log& log);

}  // namespace npuscope::ggml
