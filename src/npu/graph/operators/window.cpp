#include "npu/graph/operators/window.hpp"

#include <algorithm>

namespace npuscope::npu {
namespace {

constexpr std::int64_t largest_window = std::int64_t(1)
                                        << 31;  // no window is larger; products stay small

Shape read_list(const Operation& op, std::string_view name, std::size_t count,
                std::int64_t otherwise, std::int64_t min) {
  if (!op.has_attribute(name)) return Shape(count, otherwise);
  Shape values = op.node().ints_attribute(name);
  if (values.empty()) return Shape(count, otherwise);
  if (values.size() != count) fail("its {} has {} numbers, not {}", name, values.size(), count);
  for (const std::int64_t value : values) {
    if (value < min || value >= largest_window) fail("its {} has the value {}", name, value);
  }
  return values;
}

std::int64_t extent(const Window& window, std::size_t i) {
  return (window.kernel[i] - 1) * window.dilations[i] + 1;
}

}  // namespace

Shape kernel_shape(const Operation& op, Shape otherwise) {
  return op.has_attribute("kernel_shape") ? op.node().ints_attribute("kernel_shape") : otherwise;
}

Window read_window(const Operation& op, const Shape& spatial, Shape kernel) {
  const std::size_t count = spatial.size();
  if (kernel.size() != count)
    fail("its kernel {} does not fit an input of {} spatial dimensions", to_text(kernel), count);
  for (const std::int64_t size : kernel) {
    if (size < 1 || size >= largest_window) fail("its kernel is {}", to_text(kernel));
  }
  Window window;
  window.kernel = std::move(kernel);
  window.strides = read_list(op, "strides", count, 1, 1);
  window.dilations = read_list(op, "dilations", count, 1, 1);
  const Shape pads = read_list(op, "pads", 2 * count, 0, -largest_window);
  window.pads_begin.assign(pads.begin(), pads.begin() + std::ptrdiff_t(count));
  window.pads_end.assign(pads.begin() + std::ptrdiff_t(count), pads.end());
  const std::string mode = op.node().string_attribute("auto_pad", "NOTSET");
  if (mode == "NOTSET" || mode.empty()) return window;
  if (mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER") {
    fail("its auto_pad is '{}'", mode);
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t pad = 0;
    if (mode != "VALID") {
      const std::int64_t out = (spatial[i] + window.strides[i] - 1) / window.strides[i];
      pad =
          std::max<std::int64_t>(0, (out - 1) * window.strides[i] + extent(window, i) - spatial[i]);
    }
    const std::int64_t less = pad / 2;
    window.pads_begin[i] = mode == "SAME_LOWER" ? pad - less : less;
    window.pads_end[i] = pad - window.pads_begin[i];
  }
  return window;
}

Shape window_output(const Operation& op, const Window& window, const Shape& spatial) {
  Shape out;
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    const std::int64_t padded = spatial[i] + window.pads_begin[i] + window.pads_end[i];
    const std::int64_t room = padded - extent(window, i), stride = window.strides[i];
    if (room < 0) {
      fail("its window of {} does not fit into {} of dimension {}", extent(window, i), padded,
           i + 2);
    }
    std::int64_t count = room / stride + 1;
    if (op.attribute("ceil_mode", 0) != 0) {
      if (room % stride != 0) ++count;
      if ((count - 1) * stride >= spatial[i] + window.pads_begin[i]) --count;
    }
    out.push_back(count);
  }
  return out;
}

}  // namespace npuscope::npu
