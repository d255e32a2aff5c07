// Operators on HVX.
#pragma once

#include <functional>
#include <string>

#include "npu/graph/semantics.hpp"
#include "npu/targets/nsp/compile/place/placement.hpp"
#include "npu/targets/nsp/compile/place/storages.hpp"
#include "npu/targets/nsp/compile/tasks/task_writer.hpp"

namespace npuscope::npu::nsp {

// The tasks of a node on HVX: each core's slice of the result, at once or tile by tile.

// A kernel on HVX (or, of compound operators, on the HMX) and how a node uses it.
struct VectorKernel {
  std::string name;
  std::function<VectorWork(std::uint64_t output_bytes)> work;
  bool reads_ddr = false;                // as many bytes as it puts out, element by element
  TensorId table = TensorId::none;       // of this
  StorageId source = no_storage;         // which lies here; no storage: a constant
  double ddr_reads = 0, ddr_writes = 0;  // KernelCost
  bool in_place = false;                 // may write over an input of the same size
  std::uint64_t hmx_macs = 0;            // of the whole operator; then it runs on the HMX
  // What must be computed at once: so many elements that follow one another; 0: everything.
  std::uint64_t row_elements = 0;
  bool by_rows = false;  // strips, or bands, of its operands give those of the result
};

// The kernel of a node that is not a matrix product.
std::string kernel_of(const CompileContext& context, const Node& node, OpClass op_class);

// One whose cycles the target's description gives, for `node`.
VectorKernel kernel_named(const CompileContext& context, const Node& node, const std::string& name);

// Rows of the image that one row of the result takes, and whether a window of an image in so many
// bands reaches no further than the next.
std::uint64_t window_rows(const Node& node);
bool windows_fit(const CompileContext& context, const Node& node, std::uint64_t bands);
// Whether strips of rows of its operands give strips of its result.
bool goes_by_rows(const CompileContext& context, const Node& node, OpClass op_class);

class VectorLowering : LoweringPart {
 public:
  using LoweringPart::LoweringPart;

  void lower(const Node& node, OpClass op_class, const VectorKernel& kernel);
  // Data that is found by indices, often in DDR (embedding tables, KV caches).
  void lower_gather(const Node& node);
  void lower_scatter(const Node& node);

 private:
  bool sorts_places(const Node& node) const;
  std::vector<Operand> prepare_inputs(const Node& node, OpClass op_class, const Partition& output,
                                      Layout layout);
  // A Concat of very many parts: each is copied to its place in the result, one after the other.
  void lower_concat_by_parts(const Node& node, OpClass op_class, const VectorKernel& kernel);
  void copy_part(const VectorKernel& kernel, const Operand& operand, std::size_t index,
                 std::size_t parts, const std::vector<NodeResult>& results);
  // A reduction over the very axis that the cores share: each reduces its slice, the small partial
  // results go to every core, and each combines them. False where the cores share another.
  bool lower_split_reduction(const Node& node, const std::string& kernel);
  bool reduces_split_axis(const Node& node) const;
};

// How the cores share an operator: along which axis of its output, and what part of its inputs each
// of them then needs.

inline constexpr std::uint64_t repeat_bytes =
    64 * 1024;  // computing this on every core beats exchanging it

// The axis of input `index` that corresponds to `output_axis` of the node's output; `replicated`
// when that input is needed whole; `incompatible` when the output cannot be split there.
int input_axis(const Graph& graph, const Node& node, OpClass op_class, std::size_t index,
               int output_axis);

// That of the largest input that is in VTCM, where the operator allows it.
Partition choose_partition(const CompileContext& context, const Storages& storages,
                           const Node& node, OpClass op_class);

// Which input of a scatter holds the new values.
inline std::size_t updates_input(const Node& node) { return node.op == "TensorScatter" ? 1 : 2; }

// What input `index` must be for the output to have the partition.
Partition partition_of_input(const Graph& graph, const Node& node, OpClass op_class,
                             std::size_t index, const Partition& output);

// Rows of an image that a core's neighbours need for windows across the border between them.

// The neighbours' rows that a window operator on `operand` needs; none where it needs none, or
// where there is no room: then the operand is streamed instead.
BufferId exchange_halo(const CompileContext& context, TaskWriter& writer, Placement& place,
                       const Node& node, Operand& operand, const Partition& partition);

}  // namespace npuscope::npu::nsp
