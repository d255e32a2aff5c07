#include "npu/targets/torq/stage_maker.hpp"

#include <algorithm>

namespace npuscope::npu::torq {

StageMaker::StageMaker(const Lowering& lowering, const Graph& graph, const Target& target)
    : lowering_(lowering), graph_(graph), target_(target) {
  for (std::size_t i = 0; i < lowering.operations.size(); ++i) {
    for (const TensorId input : lowering.operations[i].inputs) {
      std::vector<std::size_t>& readers = readers_[input];
      if (readers.empty() || readers.back() != i) readers.push_back(i);
    }
    const Node& last = graph[lowering.operations[i].nodes.back()];
    for (const TensorId output : present(last.outputs)) writers_[output] = i;
    writers_[lowering.operations[i].result] = i;
  }
}

std::uint64_t StageMaker::element_bytes() const {
  if (size_ > 0) return size_;
  const Operation& each = operation();
  return each.is_int8 ? 1
                      : std::max<std::uint64_t>(lowering_.element_bytes(graph_, each.result), 2);
}

std::uint32_t StageMaker::data(std::size_t i) {
  const std::vector<TensorId>& inputs = operation().inputs;
  if (i < inputs.size()) return buffer_of(inputs[i]);
  return new_buffer(result_elements() * element_bytes(), true, true);  // of the model
}

bool StageMaker::is_from_outside(std::size_t i) const {
  const std::vector<TensorId>& inputs = operation().inputs;
  if (i >= inputs.size() || !writers_.contains(inputs[i])) return true;
  const auto found = outside_.find(inputs[i]);
  return found != outside_.end() && found->second;
}

bool StageMaker::is_result_of_model(const Operation& operation) const {
  const std::vector<TensorId>& results = graph_[operation.nodes.back()].outputs;
  return std::ranges::any_of(graph_.outputs, [&](TensorId id) {
    const TensorId root = lowering_.roots[std::size_t(id)];
    return root == operation.result || std::ranges::find(results, root) != results.end();
  });
}

std::uint32_t StageMaker::buffer_of(TensorId id) {
  const auto [place, is_new] = buffers_.try_emplace(id, 0);
  if (is_new) {
    const auto found = outside_.find(id);
    const bool outside = !writers_.contains(id) || (found != outside_.end() && found->second);
    place->second = new_buffer(lowering_.bytes(graph_, id), outside);
  }
  return place->second;
}

std::uint32_t StageMaker::new_buffer(std::uint64_t bytes, bool outside, bool constant) {
  out_.buffers.push_back({bytes, outside, constant});
  return std::uint32_t(out_.buffers.size() - 1);
}

Stage& StageMaker::add(SliceKernel kernel, std::vector<Read> reads, std::uint32_t result) {
  Stage& stage = out_.stages.emplace_back();
  stage.kernel = kernel;
  stage.operation = std::uint32_t(at_);
  stage.reads = std::move(reads);
  stage.result = result;
  stage.code_bytes = code_bytes(kernel, target_);
  return stage;
}

KernelWork StageMaker::work_of(SliceKernel kernel, std::uint64_t pixels) const {
  return {.kernel = kernel, .element_bytes = element_bytes(), .pixels = pixels};
}

// Scales, and a bias where a kernel has one.
std::vector<std::uint64_t> StageMaker::constants_of(SliceKernel kernel) const {
  switch (kernel) {
    case SliceKernel::add:
    case SliceKernel::sub:
      return operation().is_int8 ? std::vector<std::uint64_t>{4, 8}
                                 : std::vector<std::uint64_t>{4, 4};
    case SliceKernel::mul:
    case SliceKernel::table: return {8};
    case SliceKernel::fma: return {1, 8};
    case SliceKernel::segmentation: return {1, 8};
    case SliceKernel::max_pool:
    case SliceKernel::max_pool_padded: return {2};
    default: return {};
  }
}

std::uint32_t StageMaker::step(SliceKernel kernel, std::vector<std::uint32_t> reads,
                               std::uint64_t elements, std::uint64_t bytes, std::uint64_t ways,
                               bool follows, std::optional<std::uint32_t> into) {
  const std::uint32_t made = into ? *into : new_buffer(bytes);
  std::vector<Read> parts;
  for (const std::uint32_t read : reads) parts.push_back({read, ways == 1});
  Stage& stage = add(kernel, std::move(parts), made);
  stage.follows = follows;
  const std::uint64_t calls = std::max<std::uint64_t>(1, std::min(ways, elements));
  for (std::uint64_t i = 0; i < calls; ++i) {
    const auto share = [&](std::uint64_t whole) {
      return divide_up(whole * (i + 1), calls) - divide_up(whole * i, calls);
    };
    Call& call = stage.calls.emplace_back();
    call.cycles = kernel_cycles(work_of(kernel, share(elements)), target_);
    call.constants = constants_of(kernel);
    for (const std::uint32_t read : reads) call.reads.push_back(share(out_.buffers[read].bytes));
    call.writes = share(bytes);
  }
  return made;
}

void StageMaker::host(bool computes) {
  std::uint64_t elements = 0;
  for (const TensorId input : present(node().inputs)) elements += graph_[input].elements();
  for (const TensorId output : present(node().outputs)) elements += graph_[output].elements();
  Stage& stage = add(SliceKernel::convert, {}, result());
  stage.kind = StageKind::host_program;
  stage.calls.push_back({.elements = elements, .products = computes ? 1u : 0u});
}

// Data within an image of constants: it goes out, the data are written into it.
std::uint32_t StageMaker::filled(std::uint32_t from, std::uint64_t bytes, std::uint64_t ways) {
  const std::uint32_t made = new_buffer(bytes, true);
  const std::uint64_t room = target_.lram_for_data() - ways * target_.slices.program_bytes;
  for_room(bytes, room, [&](std::uint64_t share) {
    step(SliceKernel::fill, {}, share / element_bytes(), share, ways, false, made);
  });
  const std::uint64_t moved = out_.buffers[from].bytes;
  for_room(moved, room, [&](std::uint64_t share) {
    const bool is_whole = share == moved;
    Stage& move = add(SliceKernel::fill, {{is_whole ? from : new_buffer(share, true), true}}, made);
    move.kind = StageKind::move;
    move.calls.push_back({.reads = {share}, .writes = share});
  });
  return made;
}

}  // namespace npuscope::npu::torq
