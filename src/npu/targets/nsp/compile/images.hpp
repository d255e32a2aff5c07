// Which tensors are images, and what moves their places.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "npu/graph/graph.hpp"

namespace npuscope::npu::nsp {

inline constexpr std::int64_t channels_of_a_tile = 32;

// By tensor: images, whose second dimension are channels, as convolutions and windows make and read
// them. Others of four dimensions, such as the heads of attention, have their channels last.
std::vector<bool> find_images(const Graph& graph);
// As those, of convolutions along one axis: channels and places.
std::vector<bool> find_sequences(const Graph& graph);

// What sorts the places of a convolution's input for its strides, on HVX; empty: nothing does.
std::string_view sorting_for_strides(const Graph& graph, const Node& node);
inline constexpr std::string_view places_of_patches = "SpaceRearrange";  // a sorting
// With such an operator before each convolution that needs one; nothing where none does.
std::optional<Graph> with_sorted_places(const Graph& graph);

}  // namespace npuscope::npu::nsp
