// Tensors that slices or the host make in equal parts and what is left over: how kernels put them
// together and take them apart again.
//
//   196 rows     host 96 rows, host 96 rows     in two programs:  192 rows into the whole, which
//                                               goes out; host 4 rows; both into the whole again
#include <algorithm>

#include "npu/targets/torq/stage_maker.hpp"

namespace npuscope::npu::torq {

// Slices share whole groups.
std::uint64_t StageMaker::least_shared() const {
  return 2 * target_.slices.alu_width / target_.slices.group_width;
}

StageMaker::Shares StageMaker::shares_of(std::uint64_t extent, std::uint64_t elements) const {
  const std::uint64_t slices = target_.slices.count;
  if (slices < 2 || extent < least_shared() || elements < target_.slices.shared_elements)
    return {extent, 0};
  const std::uint64_t rest = extent % (slices * least_shared() / 2);
  return {extent - rest, rest};
}

// By its first side.
StageMaker::Shares StageMaker::shares_of(const Tensor& tensor) const {
  const auto first =
      std::ranges::find_if(tensor.shape, [](std::int64_t extent) { return extent > 1; });
  if (first == tensor.shape.end()) return {tensor.elements(), 0};
  const auto extent = std::uint64_t(*first);
  return shares_of(extent, tensor.elements()).of(tensor.elements() / extent);
}

std::uint32_t StageMaker::shared_step(SliceKernel kernel, std::vector<std::uint32_t> reads,
                                      std::uint64_t rows, std::uint64_t length,
                                      std::uint32_t into) {
  const Shares shares = shares_of(rows, rows * length);
  const bool alone = rows < least_shared() || rows * length < target_.slices.shared_elements;
  std::vector<std::uint64_t> parts = parts_of(shares.main, alone ? 1 : target_.slices.count, 1);
  if (shares.rest > 0) parts.push_back(shares.rest);
  std::vector<Read> by_parts;
  for (const std::uint32_t read : reads) by_parts.push_back({read, parts.size() == 1});
  Stage& stage = add(kernel, std::move(by_parts), into);
  for (const std::uint64_t part : parts) {
    Call& call = stage.calls.emplace_back();
    call.cycles = kernel_cycles(work_of(kernel, part * length), target_);
    call.constants = constants_of(kernel);
    for (const std::uint32_t read : reads)
      call.reads.push_back(out_.buffers[read].bytes * part / rows);
    call.writes = part * length * 2;
  }
  return into;
}

// What is left over is made within the whole where that is large; of a product always.
std::uint32_t StageMaker::joined(const Shares& elements, std::uint64_t size, bool within,
                                 const std::function<void()>& make_rest,
                                 std::optional<std::uint32_t> into) {
  const std::uint64_t main_bytes = elements.main * size, rest_bytes = elements.rest * size;
  const std::uint64_t bytes = main_bytes + rest_bytes;
  const std::uint64_t room = target_.lram_for_data() - target_.slices.program_bytes;
  if (elements.rest == 0 || bytes + main_bytes > room) {
    if (elements.rest > 0) make_rest();
    return into ? *into : new_buffer(bytes, true);
  }
  const std::uint32_t main = new_buffer(main_bytes, true), rest = new_buffer(rest_bytes, true);
  const auto copy = [&](std::vector<std::uint32_t> from, std::uint64_t count, std::uint64_t copied,
                        std::uint32_t to) {
    step(SliceKernel::convert, std::move(from), count, copied, 1, false, to);
  };
  if (bytes > target_.slices.kept_bytes) {
    copy({main}, elements.main, bytes, new_buffer(bytes, true));
  } else if (within) {
    const std::uint32_t place = new_buffer(bytes);
    copy({main}, elements.main, bytes, place);
    copy({place}, elements.rest, rest_bytes, new_buffer(rest_bytes, true));
  }
  make_rest();
  const std::uint32_t whole = new_buffer(bytes);
  copy({main}, elements.main, bytes, whole);
  if (!into) {
    copy({rest}, elements.rest, bytes, whole);
    return whole;
  }
  copy({rest, whole}, elements.rest, bytes, *into);
  return *into;
}

// For the host, which computes on each part where it starts.
void StageMaker::apart(std::uint32_t whole, const Shares& elements) {
  const std::uint64_t bytes = elements.main * element_bytes(), slices = target_.slices.count;
  if (bytes / slices > target_.slices.kept_bytes) {
    step(SliceKernel::convert, {whole}, elements.main, bytes, 1, false, new_buffer(bytes, true));
    return host();
  }
  const std::uint32_t parts = step(SliceKernel::convert, {whole}, elements.main, bytes, slices);
  for (std::uint64_t i = 0; i < slices; ++i) {
    goes_out(parts, bytes / slices);
    host();
  }
}

void StageMaker::goes_out(std::uint32_t buffer, std::uint64_t bytes) {
  Stage& move = add(SliceKernel::convert, {{buffer, false}}, new_buffer(bytes, true));
  move.kind = StageKind::move;
  move.calls.push_back({.reads = {bytes}, .writes = bytes});
}

// From XRAM to another place of it.
void StageMaker::moved(std::uint64_t bytes) {
  for_room(bytes, target_.lram_for_data() / 2,
           [&](std::uint64_t share) { goes_out(new_buffer(share, true), share); });
}

// In shares that LRAM has room for.
void StageMaker::for_room(std::uint64_t bytes, std::uint64_t room,
                          const std::function<void(std::uint64_t)>& make) const {
  for (std::uint64_t left = bytes; left > 0 && out_.stages.size() < max_tasks;) {
    const std::uint64_t share = std::min(left, std::max<std::uint64_t>(1, room));
    make(share);
    left -= share;
  }
}

}  // namespace npuscope::npu::torq
