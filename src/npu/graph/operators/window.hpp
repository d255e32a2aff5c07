// The arithmetic of windows that slide over spatial dimensions: convolutions and poolings.
#pragma once

#include "npu/graph/operation.hpp"

namespace npuscope::npu {

struct Window {
  Shape kernel, strides, dilations;
  Shape pads_begin, pads_end;
};

// Reads strides, dilations, pads and auto_pad of the node for these spatial input sizes.
Window read_window(const Operation& op, const Shape& spatial, Shape kernel);

// Spatial output sizes: floor((in + pads - ((kernel - 1) * dilation + 1)) / stride) + 1, or the
// ceiling with ceil_mode as long as the last window starts inside the input or its left padding.
Shape window_output(const Operation& op, const Window& window, const Shape& spatial);

// The attribute kernel_shape, or `otherwise` where the node leaves it out.
Shape kernel_shape(const Operation& op, Shape otherwise);

inline Shape spatial_of(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

}  // namespace npuscope::npu
