// Stages, and the buffers that they read and write, of the operation at hand: what all kinds of
// operations are made of. Private to stages.hpp; expander.hpp says what each kind becomes.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/arithmetic.hpp"
#include "npu/targets/torq/stages.hpp"

namespace npuscope::npu::torq {

class StageMaker {
 public:
  StageMaker(const Lowering& lowering, const Graph& graph, const Target& target);

 protected:
  // The operation at hand
  const Operation& operation() const { return lowering_.operations[at_]; }
  const Node& node() const { return graph_[operation().nodes.front()]; }
  std::uint64_t element_bytes() const;
  std::uint64_t result_elements() const { return graph_[operation().result].elements(); }
  std::uint32_t result() { return buffer_of(operation().result); }
  std::uint32_t data(std::size_t i = 0);
  bool is_from_outside(std::size_t i = 0) const;
  bool is_result_of_model(const Operation& operation) const;
  bool is_result_of_model() const { return is_result_of_model(operation()); }

  std::uint32_t buffer_of(TensorId id);
  std::uint32_t new_buffer(std::uint64_t bytes, bool outside = false, bool constant = false);

  Stage& add(SliceKernel kernel, std::vector<Read> reads, std::uint32_t result);
  // Elements one like the other, a share for each of `ways` calls; every read has as many.
  std::uint32_t step(SliceKernel kernel, std::vector<std::uint32_t> reads, std::uint64_t elements,
                     std::uint64_t bytes, std::uint64_t ways, bool follows = false,
                     std::optional<std::uint32_t> into = {});
  // Of rows of so many elements of two bytes, as slices share them.
  std::uint32_t shared_step(SliceKernel kernel, std::vector<std::uint32_t> reads,
                            std::uint64_t rows, std::uint64_t length, std::uint32_t into);
  std::vector<std::uint64_t> constants_of(SliceKernel kernel) const;
  KernelWork work_of(SliceKernel kernel, std::uint64_t pixels) const;

  // `computes`: it does all that the operation does, not only a scale or a copy.
  void host(bool computes = false);

  // Of an extent or of elements: what slices share evenly, and what is left over.
  struct Shares {
    std::uint64_t main = 0, rest = 0;
    Shares of(std::uint64_t each) const { return {main * each, rest * each}; }
  };
  std::uint64_t least_shared() const;
  Shares shares_of(std::uint64_t extent, std::uint64_t elements) const;
  Shares shares_of(const Tensor& tensor) const;
  std::uint32_t joined(const Shares& elements, std::uint64_t size, bool within,
                       const std::function<void()>& make_rest,
                       std::optional<std::uint32_t> into = {});
  void apart(std::uint32_t whole, const Shares& elements);
  void goes_out(std::uint32_t buffer, std::uint64_t bytes);
  void moved(std::uint64_t bytes);
  void for_room(std::uint64_t bytes, std::uint64_t room,
                const std::function<void(std::uint64_t)>& make) const;
  // Data within an image of constants: it goes out, the data are written into it.
  std::uint32_t filled(std::uint32_t from, std::uint64_t bytes, std::uint64_t ways);

  const Lowering& lowering_;
  const Graph& graph_;
  const Target& target_;
  Stages out_;
  std::size_t at_ = 0;
  std::uint64_t size_ = 0;  // of elements, where an operation computes in others than its own
  std::map<TensorId, std::uint32_t> buffers_;
  std::map<TensorId, std::size_t> writers_;  // operations
  std::map<TensorId, std::vector<std::size_t>> readers_;
  std::map<TensorId, bool> outside_;
};

}  // namespace npuscope::npu::torq
