// Operators that the HVX executes, and those that find their data by indices: each core takes its
// slice, in one task or tile by tile.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "npu/compile/residency.hpp"

namespace npuscope::npu {

class VectorLowering : protected Residency {
 protected:
  using Residency::Residency;

  struct VectorKernel {
    std::string name;
    std::function<std::uint64_t(std::uint64_t output_bytes)> cycles;
    bool reads_ddr = false;         // as many bytes as it puts out, element by element
    bool reads_constant = false;    // of a constant
    StorageId source = no_storage;  // else of this
    bool in_place = false;          // may write over an input of the same size
    std::uint64_t hmx_macs = 0;     // of the whole operator; then it runs on the HMX
  };
  VectorKernel kernel_named(const std::string& name) const;
  void lower_vector(const Node& node, OpClass op_class, const VectorKernel& kernel);
  Partition choose_partition(const Node& node, OpClass op_class) const;
  // Streams the operand instead when there is no room.
  BufferId exchange_halo(const Node& node, Operand& operand, const Partition& partition);
  std::vector<Operand> prepare_inputs(const Node& node, OpClass op_class, const Partition& output,
                                      Layout layout);
  // Takes over the buffer of an input that has its last use here; none when there is no such input.
  BufferId take_input_buffer(const std::vector<Operand>& operands, const NodeResult& result);
  void run_vector_tiles(const Node& node, const VectorKernel& kernel, const Partition& partition,
                        Layout layout, std::vector<Operand>& operands,
                        const std::vector<BufferId>& halos);
  std::vector<NodeResult> place_vector_results(const Node& node, const VectorKernel& kernel,
                                               const Partition& partition, Layout layout,
                                               const std::vector<Operand>& operands);
  // Tiles of all that is streamed, so that the largest is as large as a tile may be.
  std::uint64_t usual_tiles(std::span<const Operand> operands,
                            std::span<const NodeResult> results) const;
  void emit_vector_tile(const VectorKernel& kernel, std::uint64_t tile, std::uint64_t tiles,
                        const std::vector<BufferId>& reads, std::uint64_t read_bytes,
                        const std::vector<NodeResult>& results);
  bool lower_split_reduction(const Node& node, const std::string& kernel);
  void lower_gather(const Node& node);
  void lower_scatter(const Node& node);
};

// The axis of input `index` that corresponds to `output_axis` of the node's output; `replicated`
// when that input is needed whole; `incompatible` when the output cannot be split there.
int input_axis(const Graph& graph, const Node& node, OpClass op_class, std::size_t index,
               int output_axis);

}  // namespace npuscope::npu
