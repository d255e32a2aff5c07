// From nodes to tasks: places tensors, moves them, and cuts every operator into tiles.
//
// A Storage is one tensor's bytes on the device, shared by all its views (reshapes). It lives in
// VTCM, split over the cores or repeated on each, or in DDR, or both. Tensors whose slice is larger
// than two fifths of the VTCM stay in DDR and are streamed tile by tile; smaller ones stay in VTCM
// until their last use, or until something needed sooner pushes them out (spill).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "npu/compile/device_tensor.hpp"
#include "npu/compile/fusion.hpp"
#include "npu/compile/kernels.hpp"
#include "npu/compile/task_graph.hpp"
#include "npu/compile/vtcm.hpp"
#include "npuscope/base/string_pool.hpp"
#include "npuscope/npu/compile/compile.hpp"

namespace npuscope::npu {

// Thrown inside the compiler only; compile_network makes an Error of it.
struct LoweringFailure {
  std::string message;
};

enum class Layout : std::uint8_t { flat, d32, weights_d32 };

using StorageId = std::uint32_t;
inline constexpr StorageId no_storage = ~StorageId{0};

struct Storage {
  std::uint64_t bytes = 0;
  DataType type = DataType::undefined;
  Partition partition;
  Layout layout = Layout::flat;      // in VTCM
  BufferId buffer = BufferId::none;  // in VTCM
  bool in_ddr = false;               // a valid copy lies in DDR
  Layout ddr_layout = Layout::flat;
  bool host_input = false;  // written there by the host
  bool constant = false;
  TaskNeeds ddr_writers;
  std::int64_t uses = 0;         // consumers still to come, graph outputs included
  std::int64_t output_uses = 0;  // graph outputs among them: a copy in DDR serves those
  std::vector<TensorId> views;
};

// An input made ready for a node's tasks.
struct Operand {
  TensorId tensor = TensorId::none;
  StorageId storage = no_storage;
  BufferId buffer = BufferId::none;       // resident in VTCM
  bool streamed = false;                  // loaded from DDR tile by tile
  bool temporary = false;                 // the buffer is this node's own
  Layout layout = Layout::flat;           // wanted; a streamed tile is converted after loading
  std::vector<std::uint64_t> core_bytes;  // that each core needs
  bool splat() const { return buffer == BufferId::none && !streamed; }  // a known scalar
};

struct LoweredNetwork {
  TaskGraph tasks;
  StringPool strings;
  CompileMetrics metrics;
};

class Lowering {
 public:
  Lowering(const Graph& graph, const Target& target, const CompileOptions& options);
  LoweredNetwork run();
  void log_accesses() { tasks_.log_accesses(); }
  const std::vector<NodePlan>& plans() const { return plans_; }

 private:
  using CoreBytes = std::vector<std::uint64_t>;
  struct NodeResult {  // one output of the node being lowered
    StorageId storage = no_storage;
    CoreBytes core_bytes;
    bool streamed = false;             // stored to DDR tile by tile
    BufferId buffer = BufferId::none;  // else resident here
    bool in_place = false;             // the buffer was an input's
  };

  // lowering.cpp: the walk over the nodes
  void place_inputs();
  void lower(std::size_t position);
  void lower_view(const Node& node);
  void lower_outputs();
  void emit_output_semaphores(const std::vector<TaskIndex>& last_copy);
  void emit_input_semaphores();
  StorageId make_storage(TensorId tensor, Partition partition, Layout layout);
  StorageId storage_of(TensorId tensor) const { return storage_of_[std::uint32_t(tensor)]; }
  void add_view(StorageId id, TensorId view);
  void use_done(TensorId tensor);
  std::size_t next_use(const Storage& storage) const;

  // residency.cpp: VTCM, DDR and the ways between
  using Lifetime = VtcmAllocator::Lifetime;
  BufferId allocate(const CoreBytes& core_bytes, Lifetime lifetime);
  // None when there is no room even after everything that may go has gone to DDR.
  BufferId try_allocate(const CoreBytes& core_bytes, Lifetime lifetime);
  void release(BufferId buffer);
  bool evict_one();
  void spill(StorageId id);
  void drop_if_unused(StorageId id);
  bool fits(const CoreBytes& core_bytes) const;
  Operand prepare(TensorId tensor, const Partition& needed, Layout layout);
  Operand prepare_constant(TensorId tensor, const Partition& needed, Layout layout);
  bool load(StorageId id, const Partition& needed);
  void load_once_and_multicast(Storage& storage, BufferId buffer);
  void prepare_beside(Operand& operand, const Partition& needed);
  void write_back(StorageId id);
  // The storage's bytes from buffer `from`, elsewhere or in another layout; none without room.
  BufferId exchange(StorageId id, BufferId from, const Partition& needed);
  BufferId convert(StorageId id, BufferId from, const CoreBytes& core_bytes, Layout layout);
  bool repartition(StorageId id, const Partition& needed);
  void convert_layout(StorageId id, Layout layout);
  void place_result(NodeResult& result, bool resident);
  void finish(Operand& operand);
  // One tile of a streamed operand: loads it (and converts it) into a buffer of its own.
  BufferId load_tile(const Operand& operand, std::uint64_t tile, std::uint64_t tiles);
  void store_tile(StorageId id, BufferId buffer, const CoreBytes& core_bytes);

  // matrix.cpp, products.cpp: products on the HMX
  struct MatrixJob {
    const Node* node = nullptr;
    const NodePlan* plan = nullptr;
    MatrixProduct product;     // rows of all batches where the weights are shared
    std::uint64_t groups = 1;  // independent products with weights of their own
    std::uint64_t weight_bytes = 0;
    Partition partition;      // of the result
    bool by_columns = false;  // each core has columns (and their weights) of its own
    bool on_hmx = true;
  };
  void lower_matrix(const Node& node, const NodePlan& plan);
  void lower_depthwise(const Node& node, const NodePlan& plan);
  void lower_compound(const Node& node);
  void lower_constant_product(MatrixJob& job);
  void lower_dynamic_product(MatrixJob& job);
  MatrixJob describe(const Node& node, const NodePlan& plan) const;
  void choose_product_partition(MatrixJob& job) const;
  Partition choose_batch_partition(const MatrixJob& job) const;
  std::uint64_t product_cycles(const MatrixJob& job, std::uint64_t rows, std::uint64_t columns,
                               std::uint64_t groups, std::uint64_t* macs) const;
  BufferId load_weights(const MatrixJob& job, std::uint64_t chunk, std::uint64_t chunks);
  void load_bias(const MatrixJob& job, std::vector<Operand>& operands);
  struct ProductTile {
    StringId name{};
    std::vector<BufferId> reads;
    BufferId writes = BufferId::none;
    CoreBytes output_bytes;
    CoreBytes rows, columns, groups;  // of each core
  };
  void emit_product(const MatrixJob& job, ProductTile& tile, const NodeResult& result);
  struct ProductTiling {
    std::uint64_t rows = 1;         // tiles of the activation
    std::uint64_t chunks = 1;       // of the weights' columns
    std::uint64_t depth_parts = 1;  // of each chunk
  };
  ProductTiling plan_tiling(const MatrixJob& job, const Operand& activation,
                            const NodeResult& result) const;
  NodeResult make_product_result(const MatrixJob& job, Layout layout);
  void run_product_tiles(const MatrixJob& job, const std::vector<Operand>& operands, BufferId halo,
                         const NodeResult& result);
  Partition needed_for_batches(const MatrixJob& job, TensorId id, bool weights) const;
  std::uint64_t batch_tiles(const MatrixJob& job, const std::vector<Operand>& operands,
                            const NodeResult& result) const;
  ProductTile batch_tile(const MatrixJob& job, const CoreBytes& output_bytes, std::uint64_t index,
                         std::uint64_t tiles) const;
  ProductTile product_tile(const MatrixJob& job, const CoreBytes& output_bytes,
                           std::uint64_t row_tile, std::uint64_t row_tiles, std::uint64_t chunk,
                           std::uint64_t chunks) const;
  std::int64_t column_unit(TensorId result) const;

  // vector.cpp: everything the HVX does tile by tile
  struct VectorKernel {
    std::string name;
    std::function<std::uint64_t(std::uint64_t output_bytes)> cycles;
    bool reads_ddr = false;       // as many bytes as it puts out, element by element
    bool reads_constant = false;  // of a constant
    bool in_place = false;        // may write over an input of the same size
    std::uint64_t hmx_macs = 0;   // of the whole operator; then it runs on the HMX
  };
  VectorKernel kernel_named(const std::string& name) const;
  void lower_vector(const Node& node, OpClass op_class, const VectorKernel& kernel);
  Partition choose_partition(const Node& node, OpClass op_class) const;
  BufferId exchange_halo(const Node& node, const Operand& operand, const Partition& partition);
  std::vector<Operand> prepare_inputs(const Node& node, OpClass op_class, const Partition& output,
                                      Layout layout);
  // Takes over the buffer of an input that has its last use here; none when there is no such input.
  BufferId take_input_buffer(const std::vector<Operand>& operands, const NodeResult& result);
  void run_vector_tiles(const Node& node, const VectorKernel& kernel, const Partition& partition,
                        Layout layout, const std::vector<Operand>& operands,
                        const std::vector<BufferId>& halos);
  void emit_vector_tile(const VectorKernel& kernel, std::uint64_t tile, std::uint64_t tiles,
                        const std::vector<BufferId>& reads, const std::vector<NodeResult>& results);
  void keep_result(const NodeResult& result);
  bool lower_split_reduction(const Node& node, const std::string& kernel);

  // indexed.cpp: gather and scatter
  void lower_gather(const Node& node);
  void lower_scatter(const Node& node);

  // helpers
  const Tensor& tensor(TensorId id) const { return graph_[id]; }
  DataType type_of(TensorId id) const {
    return device_type(graph_[id].type, options_.convert_to_fp16);
  }
  std::uint64_t bytes_of(TensorId id) const {
    return device_bytes(graph_[id].elements(), type_of(id));
  }
  TaskSpec vector_task(const std::string& kernel, StringId name, DataType type) const;
  TaskSpec dma_task(const char* kernel, StringId name, DataType type) const;
  std::uint64_t tiles_for(std::uint64_t bytes) const;
  void count_constant(TensorId id, std::uint64_t bytes, std::uint64_t d32_bytes);
  StringId name_of_tile(std::uint64_t tile, std::uint64_t tiles) const;
  // A task on its own core's VTCM: reads the buffers (none are passed over), writes one.
  TaskIndex add_compute(const TaskSpec& spec, std::span<const BufferId> reads, BufferId writes);
  TaskIndex add(const TaskSpec& spec, TaskNeeds needs) {
    return tasks_.add(spec, std::move(needs));
  }

  const Graph& graph_;
  const Target& target_;
  const CompileOptions& options_;
  const std::uint32_t cores_;
  const std::uint64_t resident_limit_;  // a larger slice stays in DDR
  const std::uint64_t tile_bytes_;      // streamed at a time
  std::vector<NodePlan> plans_;
  TaskGraph tasks_;
  VtcmAllocator vtcm_;
  mutable StringPool strings_;
  CompileMetrics metrics_;
  std::vector<Storage> storages_;
  std::vector<StorageId> storage_of_;  // by tensor
  std::vector<StorageId> resident_;    // storages with a buffer, oldest first
  std::set<StorageId> pinned_;         // inputs and outputs of the node being lowered
  std::set<TensorId> counted_constants_;
  std::vector<TaskIndex> last_input_read_;  // by core: the last transfer from host inputs
  std::size_t position_ = 0;                // of the node being lowered
  StringId node_name_{};
  StringId node_shape_{};
  StringId node_operands_{};
  StringId node_attributes_{};
};

// The axis of input `index` that corresponds to `output_axis` of the node's output; `replicated`
// when that input is needed whole; `incompatible` when the output cannot be split there.
int input_axis(const Graph& graph, const Node& node, OpClass op_class, std::size_t index,
               int output_axis);

}  // namespace npuscope::npu
