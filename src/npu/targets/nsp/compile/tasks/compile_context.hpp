// The constant input of every step: model in device precision, hardware, options.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/arithmetic.hpp"
#include "npu/graph/graph.hpp"
#include "npu/graph/semantics.hpp"
#include "npu/targets/nsp/compile/compile.hpp"
#include "npu/targets/nsp/compile/images.hpp"
#include "npu/targets/nsp/compile/single_rows.hpp"
#include "npu/targets/nsp/compile/tasks/packed.hpp"

namespace npuscope::npu::nsp {

// How a tensor lies on the device: element type, split over cores, bytes per core.

using CoreBytes = std::vector<std::uint64_t>;  // by core
using CoreShapes = std::vector<Shape>;

// 0 of none.
std::uint64_t largest(const std::vector<std::uint64_t>& values);

// Element type on the device: float16 for floats when converting.
DataType device_type(DataType type, bool convert_to_fp16);
// With the scales of its blocks, where it has some.
std::uint64_t device_bytes(std::uint64_t elements, DataType type);

// One of so many even parts.
std::uint64_t even_part(std::uint64_t all, std::uint64_t index, std::uint64_t parts);
// The same of the bytes of a tensor of that type: whole elements.
std::uint64_t even_bytes(std::uint64_t bytes, std::uint64_t index, std::uint64_t parts,
                         DataType type);
CoreBytes even_bytes(const CoreBytes& bytes, std::uint64_t index, std::uint64_t parts,
                     DataType type);

inline constexpr int replicated = -1;    // every core holds all of it
inline constexpr int incompatible = -2;  // no axis of this shape matches the split

// A split of `shape` along `axis` in steps of `unit` elements, or replicated.
struct Partition {
  Shape shape;
  int axis = replicated;
  std::int64_t unit = 1;
};

// The same split seen in `view`, a reshape of partition.shape (same bytes in the same order). It
// survives when as many elements lie outside the axis in both shapes and no step is cut; otherwise
// the result's axis is `incompatible`.
Partition partition_in_view(const Partition& partition, const Shape& view);

// Elements along an axis of `extent` that each core gets, in whole units, the first cores first.
std::uint64_t share(std::int64_t extent, std::int64_t unit, std::uint32_t core,
                    std::uint32_t cores);
std::vector<std::uint64_t> shares(std::int64_t extent, std::int64_t unit, std::uint32_t cores);

// Bytes that each core holds of a tensor of `bytes` with this partition.
std::vector<std::uint64_t> slice_bytes(const Partition& partition, std::uint64_t bytes,
                                       std::uint32_t cores);

// The shape of what one of the cores holds.
Shape slice_shape(const Partition& partition, std::uint32_t core, std::uint32_t cores);

// Whether a tensor held as `held` is where `needed` wants it, both in the same shape.
bool satisfies(const Partition& held, const Partition& needed, std::uint32_t cores);

// What becomes of every node before tiles are cut: executed, folded away, a mere view, or part of
// the matrix product before it (bias, batch normalisation, activation, requantisation).
enum class NodeFate : std::uint8_t { execute, folded, view, fused };

struct NodePlan {
  NodeFate fate = NodeFate::execute;
  OpClass op_class = OpClass::elementwise;
  // Of matrix products: where the fused result goes, the operands behind DequantizeLinear, the
  // bias.
  TensorId result = TensorId::none;
  TensorId activation = TensorId::none;
  TensorId weights = TensorId::none;
  std::vector<TensorId> fused_constants;  // bias, folded normalisation parameters
  bool integer = false;                   // int8 by int8
  bool is_limited = false;                // a Relu or Clip is part of it
  bool compound = false;  // several products in one operator: attention, LSTM, Einsum
};

// The bias of the last product of a layer of attention, which the front end of QNN leaves apart.
bool is_added_to_attention(const Graph& graph, const Node& add);

// `qnn`: as QNN fuses them.
std::vector<NodePlan> plan_nodes(const Graph& graph, bool qnn = false);

// Thrown inside the compiler only; compile_network makes an Error of it.
struct LoweringFailure {
  std::string message;
};

struct CompileContext {
  CompileContext(const Graph& graph, const Target& target, const CompileOptions& options)
      : graph(graph),
        target(target),
        options(options),
        plans(plan_nodes(graph, target.qnn_graphs)),
        packed(packed_types(graph, plans, options)),
        moves_tiles(target.moves_tiles),
        images(moves_tiles ? find_images(graph) : std::vector<bool>(graph.tensors.size())),
        sequences(target.qnn_graphs ? find_sequences(graph)
                                    : std::vector<bool>(graph.tensors.size())),
        normalized(target.qnn_graphs ? find_normalized(graph)
                                     : std::vector<bool>(graph.tensors.size())),
        single_rows(target.qnn_graphs ? find_single_rows(graph)
                                      : std::vector<bool>(graph.tensors.size())),
        cores(options.cores),
        vtcm_bytes(target.vtcm_bytes - target.vtcm_reserved_bytes),
        resident_limit(target.qnn_graphs ? vtcm_bytes * 4 / 5 : vtcm_bytes * 2 / 5),
        cuts_resident(!target.session && (options.slices < 2 || options.cuts_slices)) {}

  const Graph& graph;
  const Target& target;
  const CompileOptions& options;
  const std::vector<NodePlan> plans;   // by node
  const std::vector<DataType> packed;  // by tensor, in DDR; undefined: as in VTCM
  // Whether the target has kernels that move data without leaving its tiles
  // (lower/tile_formats.hpp).
  const bool moves_tiles;
  const std::vector<bool> images, sequences;        // by tensor (images.hpp)
  const std::vector<bool> normalized, single_rows;  // by tensor (single_rows.hpp)
  const std::uint32_t cores;
  const std::uint64_t vtcm_bytes;  // of each core, for tensors
  const std::uint64_t tile_bytes = vtcm_bytes / 16 / options.overlap_split;  // streamed at a time
  const std::uint64_t resident_limit;  // a larger slice stays in DDR
  // Whether operators on tensors in VTCM are cut along the pieces of those. An HTP goes by strips
  // instead (place/strips.hpp). Programs for several devices only where that is asked for.
  const bool cuts_resident;

  const Tensor& tensor(TensorId id) const { return graph[id]; }
  DataType type_of(TensorId id) const {
    return device_type(graph[id].type, options.convert_to_fp16);
  }
  std::uint64_t bytes_of(TensorId id) const {
    return device_bytes(graph[id].elements(), type_of(id));
  }
  DataType packed_type(TensorId id) const { return packed[std::size_t(id)]; }
  // In DDR, of so many bytes in VTCM.
  std::uint64_t ddr_bytes(TensorId id, std::uint64_t bytes) const {
    const DataType type = packed_type(id);
    return type == DataType::undefined ? bytes
                                       : device_bytes(bytes * 8 / bits_of(type_of(id)), type);
  }
  // Bytes of each core's slice, and one core's slice as a shape.
  CoreBytes slices_of(const Partition& partition, std::uint64_t bytes) const {
    return slice_bytes(partition, bytes, cores);
  }
  Shape slice_of(const Partition& partition, std::uint32_t core) const {
    return slice_shape(partition, core, cores);
  }
  bool fits(const CoreBytes& core_bytes) const { return largest(core_bytes) <= resident_limit; }
};

inline bool has_input(const Node& node, std::size_t index) { return node.has_input(index); }

}  // namespace npuscope::npu::nsp
