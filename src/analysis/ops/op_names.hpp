// What compilers make of the names of a model's nodes.
//
//   without_ordinals("layer.3/n165/__0")   // "layer.3/n165"
//   without_ordinals("MatMul_0:OpId_18")   // "MatMul_0"
//   last_ordinal("n165/__3")               // 3
//   name_parts("conv1+relu1")              // conv1, relu1
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope::analysis {

// Without the numbers that compilers append: they differ between compiles of one model. A number
// that is a part of the node's own name stays.
std::string without_ordinals(std::string_view name);

// "/layer.0/MatMul/__3" without the number of its tile.
std::string_view without_tile(std::string_view name);

// The number behind the last "__"; none where the name does not end so.
std::optional<std::uint64_t> last_ordinal(std::string_view name);

// The names that a fused op's name consists of; none where it is one name.
std::vector<std::string_view> name_parts(std::string_view name);

}  // namespace npuscope::analysis
