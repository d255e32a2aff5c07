// Convolutions that slices have no kernel for: of groups of channels, in bf16 by the host, in int8
// by the CSS, part by part, on sums of 32 bits that begin as the bias; of windows wider than seven
// in bf16, by the host on sums that begin as zeros.
//
//   64 channels in 8 groups, 3x3, 28x28, int8     16 programs of 4 results of one group: 7,200
//                                                 bytes of data, 288 of weights, 12,544 of sums
#include <algorithm>

#include "npu/targets/torq/expander.hpp"

namespace npuscope::npu::torq {
namespace {

constexpr std::uint64_t sum_bytes = 4;

std::uint64_t side(const Shape& shape, std::size_t i) {
  return i < shape.size() ? std::max<std::uint64_t>(1, std::uint64_t(shape[i])) : 1;
}

}  // namespace

void Expander::grouped() {
  const Shape& in = graph_[node().inputs[0]].shape;
  const Shape& out = graph_[operation().result].shape;
  const Shape& weights = graph_[node().inputs[node().op == "QLinearConv" ? 3 : 1]].shape;
  const std::uint64_t stride = largest_of(node().ints_attribute("strides"), 1);
  const std::uint64_t spread = largest_of(node().ints_attribute("dilations"), 1);
  GroupedShape shape;
  shape.groups = std::uint64_t(std::max<std::int64_t>(1, node().int_attribute("group", 1)));
  shape.channels = divide_up(side(in, 1), shape.groups);
  shape.results = divide_up(side(out, 1), shape.groups);
  shape.window_area = saturating_product({side(weights, 2), side(weights, 3)});
  shape.pixels = saturating_product({side(out, 0), side(out, 2), side(out, 3)});
  std::uint64_t padded = side(in, 0);
  shape.area_read = side(in, 0);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::uint64_t reached =
        (side(out, i + 2) - 1) * stride + (side(weights, i + 2) - 1) * spread + 1;
    const std::uint64_t extent = side(in, i + 2);
    padded = saturating_product({padded, extent + pads_of(node(), i, reached, extent)});
    shape.area_read = saturating_product({shape.area_read, reached});
  }
  const std::uint64_t bytes = saturating_product({padded, side(in, 1), element_bytes()});
  const bool is_wide = shape.groups == 1 || (shape.channels == 1 && shape.results == 1);
  const bool is_padded = bytes > out_.buffers[data()].bytes;
  if (is_padded) is_wide ? host() : void(filled(data(), bytes, 1));
  operation().is_int8 ? grouped_by_css(shape) : grouped_by_host(side(out, 1), is_wide);
}

// The bias goes there in 32-bit floats, results come back in them; what follows a convolution is
// the host's, too. Sums that begin as zeros have the bias added behind.
void Expander::grouped_by_host(std::uint64_t channels, bool begins_as_zeros) {
  const std::uint64_t elements = result_elements(), slices = target_.slices.count;
  bias_in_float(channels);
  const std::uint64_t room = target_.lram_for_data() - slices * target_.slices.program_bytes;
  if (begins_as_zeros) {
    size_ = sum_bytes;
    const std::uint64_t bytes = saturating_product({elements, sum_bytes});
    for_room(bytes, room / sum_bytes * sum_bytes, [&](std::uint64_t share) {
      step(SliceKernel::fill, {}, share / sum_bytes, share, 1, false, new_buffer(share, true));
    });
    moved(bytes);
    size_ = 0;
  }
  host(true);
  if (begins_as_zeros) {
    for (std::uint64_t i = 0; i < slices; ++i) {
      moved(saturating_product({elements / slices, sum_bytes}));
      host();
    }
  }
  if (operation().nodes.size() > 1) {
    for (std::uint64_t i = 0; i < slices; ++i) host();
    return;
  }
  const std::uint64_t most = std::max<std::uint64_t>(1, room / (sum_bytes + 2));
  for (std::uint64_t first = 0; first < elements && out_.stages.size() < max_tasks; first += most) {
    const std::uint64_t part = std::min(most, elements - first);
    step(SliceKernel::round, {new_buffer(part * sum_bytes, true)}, part, part * 2,
         begins_as_zeros ? slices : 1, false, result());
  }
}

// In 32-bit floats, as large as the result.
void Expander::bias_in_float(std::uint64_t channels) {
  step(SliceKernel::round, {new_buffer(channels * 2, true, true)}, channels, channels * sum_bytes,
       1, false, new_buffer(channels * sum_bytes, true));
  host();
}

// Groups in halves of halves, then results of one group, until data, weights and sums fit.
void Expander::grouped_by_css(const GroupedShape& shape) {
  std::uint64_t groups = shape.groups, results = shape.results;
  const auto data_bytes = [&] {
    return saturating_product({groups, shape.channels, shape.area_read});
  };
  const auto weight_bytes = [&] {
    return saturating_product({groups, results, shape.channels, shape.window_area});
  };
  const auto sums = [&] { return saturating_product({groups, results, shape.pixels}); };
  const auto fits = [&] {
    const std::uint64_t room = target_.css.data_bytes;
    return data_bytes() <= room && weight_bytes() <= room && sums() <= room &&
           data_bytes() + weight_bytes() + sums() * sum_bytes + 16 <= room;
  };
  while (!fits() && (groups > 1 || results > 1))
    groups > 1 ? groups = divide_up(groups, 2) : results = divide_up(results, 2);
  if (!fits()) {
    leave_to_host(operation(), plans_[at_],
                  "one result of a group does not fit the memory of the CSS");
    return host(true);
  }
  host();
  host();
  size_ = sum_bytes;
  const std::uint64_t channels = shape.groups * shape.results;
  const std::uint64_t channel_bytes = shape.pixels * sum_bytes;
  const std::uint64_t room = target_.lram_for_data() - target_.slices.program_bytes;
  const std::uint64_t most = std::clamp<std::uint64_t>(room / channel_bytes, 1, channels);
  for (std::uint64_t first = 0; first < channels && out_.stages.size() < max_tasks; first += most) {
    const std::uint64_t part = std::min(most, channels - first);
    step(SliceKernel::broadcast, {new_buffer(part * sum_bytes, true)}, part * shape.pixels,
         part * channel_bytes, 1, false, new_buffer(part * channel_bytes, true));
  }
  size_ = 0;
  bool is_first = true;
  for (std::uint64_t group = 0; group < shape.groups && out_.stages.size() < max_tasks;
       group += groups) {
    const std::uint32_t from = new_buffer(data_bytes(), true);
    for (std::uint64_t i = 0; i < shape.results && out_.stages.size() < max_tasks; i += results) {
      const std::uint32_t weights = new_buffer(weight_bytes(), true, true);
      const std::uint32_t begun = new_buffer(sums() * sum_bytes, true);
      Stage& stage = add(SliceKernel::convert, {{from, true}, {weights, true}, {begun, true}},
                         new_buffer(sums() * sum_bytes, true));
      stage.kind = StageKind::css;
      stage.code_bytes = std::exchange(is_first, false) ? target_.css.small_code_bytes : 0;
      stage.calls.push_back({.elements = sums(),
                             .products = saturating_product({shape.channels, shape.window_area}),
                             .constants = {16},
                             .reads = {data_bytes(), weight_bytes(), sums() * sum_bytes},
                             .placed = {data_bytes(), weight_bytes(), sums()},
                             .writes = sums() * sum_bytes});
    }
  }
  for (std::size_t i = 0; i < 2 * target_.slices.count; ++i) host();
}

}  // namespace npuscope::npu::torq
