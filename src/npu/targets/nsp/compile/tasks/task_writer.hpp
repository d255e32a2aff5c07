// Tasks of the current node: their names, texts and dependencies.
//
//   TaskWriter writer(context);
//   writer.begin_node(position, node);
//   TaskSpec spec = writer.vector_task(3, "elementadd", writer.node_name(), DataType::float16);
//   const TaskIndex task = writer.add(spec, {reads(x, 3), writes(y, 3)});
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npu/graph/graph.hpp"
#include "npu/graph/semantics.hpp"
#include "npu/targets/nsp/compile/tasks/compile_context.hpp"
#include "npu/targets/nsp/compile/tasks/task_graph.hpp"
#include "npu/targets/nsp/compile/tasks/vector_work.hpp"
#include "npu/targets/nsp/target/target.hpp"
#include "npuscope/base/string_pool.hpp"

namespace npuscope::npu::nsp {

// Texts of tasks: the names of their kernels, and what they work on.

// Kernel names, as the field knows them (formats/qaic.md section 3e lists those seen on devices;
// "element<op>" continues their scheme where none is known), and what a kernel costs.

// Whether an operand is smaller than the result.
bool broadcasts(const Graph& graph, const Node& node);

// The HVX kernel of a node that is not a matrix product.
std::string vector_kernel(const Graph& graph, const Node& node, OpClass op_class);

inline void set_work(TaskSpec& spec, const VectorWork& work) {
  spec.cycles = work.cycles;
  spec.threads = work.threads;
  if (!work.on_hmx) return;
  spec.group = qaic::ThreadGroup::hmx;
  spec.thread_imbalance = 0;
  spec.threads = 0;
}

// Cycles of the HMX for a [rows x depth] by [depth x columns] tile, padded to its granules;
// `kernel_area` positions of depth / kernel_area channels each.
struct HmxWork {
  std::uint64_t macs = 0;  // padding included
  std::uint64_t cycles = 0;
};
// `in_place`: neighbouring results read neighbouring places (a convolution without strides).
HmxWork hmx_work(const Target& target, const MatrixProduct& product, std::uint64_t rows,
                 std::uint64_t columns, bool integer, bool in_place = false);

// The same product on HVX: float32, and depthwise convolutions, which would waste the HMX.
std::uint64_t hvx_product_cycles(const Target& target, std::uint64_t macs, DataType type);

// What a task works on, as texts for the statistics descriptor, in the form that the vendor's
// descriptor has them (formats/qaic.md section 3c). They are of the task, not of its node: a tile
// of 64 of 512 columns says
//
//   Dest [1 x 128 x 64], Src [1 x 128 x 768], Src1 [768 x 64]
//   out TCM Dest y float16 <1 x 128 x 64> 16KB
//   in TCM Src x float16 <1 x 128 x 768> 192KB
//   in TCM Src1 w float16 <768 x 64> 96KB
//
// and the bytes of what it writes are those of the statistics' output size.

// A tensor or the part of one that a task reads or writes.
struct TaskOperand {
  enum class Use : std::uint8_t { in, out, inout };
  enum class Memory : std::uint8_t { none, vtcm, ddr };  // none: a scalar that the kernel knows
  Use use = Use::in;
  Memory memory = Memory::vtcm;
  std::string_view name;
  DataType type = DataType::undefined;
  Shape shape;
  bool operator==(const TaskOperand&) const = default;
};

// As many elements of `whole`, in as many dimensions: all of the inner ones, some of the outermost
// that comes out even. 96 of [2 x 8 x 6] are [2 x 8 x 6], 24 are [1 x 4 x 6], 60 are [1 x 10 x 6].
Shape part_of_shape(const Shape& whole, std::uint64_t elements);
// The same for so many bytes of a type.
Shape part_of_shape(const Shape& whole, std::uint64_t bytes, DataType type);

// What is only copied or converted is there once: "Dest [1 x 128 x 64]".
std::string shapes_of(std::span<const TaskOperand> operands);
// Distinct element types, results first: "float16, index32"
std::string types_of(const Graph& graph, const Node& node, bool convert_to_fp16);
// One operand a line.
std::string operands_of(std::span<const TaskOperand> operands);

// "{Kernels: [1, 1], Strides: [1, 1], Group: 1}" for convolutions; "" for others.
std::string attributes_of(const Node& node);

inline constexpr std::size_t max_tasks = 1 << 22;  // as many ops as a descriptor may have

// Transfers by the DMA engines: the kernel, and between which memories.
struct DmaKernel {
  const char* name;
  TaskOperand::Memory from, to;
};
inline constexpr DmaKernel copy_to_vtcm{"aiccopytovtcm", TaskOperand::Memory::ddr,
                                        TaskOperand::Memory::vtcm};
inline constexpr DmaKernel copy_from_vtcm{"aiccopyfromvtcm", TaskOperand::Memory::vtcm,
                                          TaskOperand::Memory::ddr};
inline constexpr DmaKernel multicast_vtcm{"aicmulticastvtcm", TaskOperand::Memory::vtcm,
                                          TaskOperand::Memory::vtcm};
inline constexpr DmaKernel multicast_to_device{"aicmulticastvtcm_out", TaskOperand::Memory::vtcm,
                                               TaskOperand::Memory::vtcm};

class TaskWriter {
 public:
  explicit TaskWriter(const CompileContext& context)
      : context_(context), tasks_(context.cores, context.target.hmx_tile_rows > 0) {}

  // Makes it the current node, for names and texts of the next tasks.
  void begin_node(std::size_t position, const Node& node);
  // An output of the graph, behind all nodes.
  void begin_output(TensorId output);
  void go_to(std::size_t position) { position_ = position; }
  void drop_attributes() { node_attributes_ = StringId::empty; }
  std::size_t position() const { return position_; }
  StringId node_name() const { return node_name_; }
  std::string_view node_text() const { return strings_[node_name_]; }
  StringId node_types() const { return node_types_; }
  TensorId node_result() const { return node_result_; }
  StringId name_of_tile(std::uint64_t tile, std::uint64_t tiles);

  TaskSpec vector_task(std::uint32_t core, std::string_view kernel, StringId name, DataType type);
  // Moves so many bytes of a tensor, of which the core has what `whole` says. `packed`: they are
  // blocks of that type.
  TaskSpec dma_task(std::uint32_t core, const DmaKernel& kernel, StringId name, TensorId id,
                    const Shape& whole, std::uint64_t bytes, DataType packed = DataType::undefined);
  // On HVX: blocks made of values, or values of blocks.
  struct Form {
    std::uint64_t bytes = 0;
    DataType type = DataType::undefined;
  };
  TaskSpec packing_task(std::uint32_t core, std::string_view kernel, StringId name, TensorId id,
                        const Shape& whole, const Form& from, const Form& to);
  // So many bytes of a tensor, of which the core has what `whole` says.
  TaskOperand operand(TaskOperand::Use use, TaskOperand::Memory memory, TensorId id,
                      const Shape& whole, std::uint64_t bytes,
                      DataType packed = DataType::undefined) const;
  TaskOperand in_vtcm(TaskOperand::Use use, TensorId id, const Shape& whole,
                      std::uint64_t bytes) const {
    return operand(use, TaskOperand::Memory::vtcm, id, whole, bytes);
  }
  TaskOperand known_scalar(TensorId id) const;
  // Levels that record no operators need no texts of what tasks work on.
  bool describes() const { return context_.options.stats_level >= 50; }
  // Says in the descriptor what the task works on.
  void works_on(TaskSpec& spec, std::span<const TaskOperand> operands);
  void works_on(TaskSpec& spec, std::initializer_list<TaskOperand> operands) {
    works_on(spec, std::span(operands.begin(), operands.size()));
  }
  StringId intern(std::string_view text) { return strings_.intern(text); }

  // The task needs what its uses of buffers need, and `needs`.
  TaskIndex add(const TaskSpec& spec, std::span<const BufferUse> uses, const TaskNeeds& needs = {});
  TaskIndex add(const TaskSpec& spec, std::initializer_list<BufferUse> uses,
                const TaskNeeds& needs = {}) {
    return add(spec, std::span(uses.begin(), uses.size()), needs);
  }
  // A task on its own core's VTCM: reads the buffers (none are passed over), writes one.
  // Unless the spec says otherwise, all of each buffer is read.
  // `parts` are those of the buffers that are used; those beyond its end are used whole.
  struct Parts {
    std::vector<BufferPart> reads;
    BufferPart writes;
  };
  TaskIndex add_compute(TaskSpec spec, std::span<const BufferId> reads, BufferId writes,
                        const Parts& parts = {});
  // Number of tiles of the usual size.
  std::uint64_t tiles_for(std::uint64_t bytes) const;
  void check_tiles(std::uint64_t tiles) const;  // LoweringFailure beyond max_tasks

  TaskGraph& tasks() { return tasks_; }
  const TaskGraph& tasks() const { return tasks_; }
  std::uint64_t bytes_in(std::span<const BufferId> buffers) const;  // none are passed over
  // A use that writes the buffer on every core.
  std::vector<BufferUse> written_everywhere(BufferId buffer) const;
  StringPool take_strings() { return std::move(strings_); }

 private:
  [[noreturn]] void refuse_more_tasks() const;

  const CompileContext& context_;
  TaskGraph tasks_;
  StringPool strings_;
  std::size_t position_ = 0;
  StringId node_name_{};
  StringId node_types_{};  // distinct element types of the operands, results first
  StringId node_attributes_{};
  TensorId node_result_ = TensorId::none;
  // The latest operands and their texts: the tasks of a node on several cores mostly have the same.
  std::vector<TaskOperand> described_;
  StringId described_shapes_{}, described_operands_{};
  // The same of the latest transfer from and to DDR, and of that within the chip.
  struct Moved {
    TensorId tensor = TensorId::none;
    std::uint64_t bytes = 0;
    TaskOperand::Memory to = TaskOperand::Memory::none;
    Shape whole;
    DataType packed = DataType::undefined;
    StringId shapes{}, operands{};
  };
  std::array<Moved, 2> moved_;
  // Of the task that is added.
  std::vector<BufferUse> uses_;
  TaskNeeds needs_;
};

}  // namespace npuscope::npu::nsp
