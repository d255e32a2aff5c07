// An operation of a graph of llama.cpp, as the lines of its Hexagon backend name it.
//
//   const auto operation = parse_operation("MUL_MAT|blk.0.ffn_down.weight x ffn_swiglu-0 -> "
//       "ffn_out-0|2816:1024 x 2816:32 -> 1024:32|q4_0 x f32 -> f32|18:1584 x …|hmx-tiled vtcm 7");
//   operation->layer            0
//   operation->role             "ffn_down"
//   operation->macs             92274688      2816 x 1024 x 32
//   operation->weight_bytes     1622016       as the NPU reads them, 4.5 bits a weight
//   operation->tokens           32
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope::ggml {

using Extents = std::array<std::int64_t, 4>;  // the fastest first, as ggml has them

struct Tensor {
  std::string name, type;  // type: empty where the log has none
  Extents extents{1, 1, 1, 1};
  std::string extents_text;
};

struct Operation {
  std::string op;  // "MUL_MAT_NX", "RMS_NORM+MUL"
  std::vector<Tensor> inputs, outputs;
  std::string kernel;                  // "hmx-tiled vtcm 7340032"; empty: not stated
  std::optional<int> layer;            // that its names tell
  bool is_of_no_layer = false;         // its names tell that it is of none
  std::string role;                    // "ffn_gate+ffn_up", without the layer
  std::optional<std::int64_t> tokens;  // rows that a product with weights makes
  // By work.hpp; 0: not known, or none.
  double macs = 0, weight_bytes = 0, cache_bytes = 0;
  bool is_at_most = false;       // of attention: the log has the length of its cache padded
  std::uint64_t vtcm_bytes = 0;  // that its kernel has; 0: not stated
  bool synchronises = false;     // sessions with each other; no compute
  std::uint32_t cores = 1;       // of MDEV_GROUP: that do the ops behind it together

  double read_bytes() const { return weight_bytes + cache_bytes; }
};

// `text` is a line from its operation to its numbers: separators are "|" or " : " (then the
// operation ends with ": "). None where names, dimensions and types do not fit each other.
std::optional<Operation> parse_operation(std::string_view text);
// The same of the first form, whose names have dimensions with them and no types.
std::optional<Operation> parse_first_operation(std::string_view text);

// What an operation computes and what it reads of DDR, out of names, dimensions and types.
//
//   MUL_MAT           K x N x rows; of experts K x N x tokens x experts of a token
//   FLASH_ATTN_EXT    rows x heads x length x (depth of K + depth of V)
//   GATED_DELTA_NET   tokens x heads x 3 x depth of K x depth of V, as the recurrence does it
//   SSM_CONV          results x taps
//
// Bytes are those of weights and of the KV cache, as the NPU reads them: a q4_K weight takes 5 bits
// there. Activations are left out, they may stay in the cache or the VTCM. The length in the log is
// that of the cache's used part, rounded up, and the mask halves a prompt: of attention both are at
// most.
bool is_weight(const Tensor& tensor);
void find_work(Operation& operation);

// Bits that the NPU reads for an element of this type; none: unknown. Types of ggml that the
// backend repacks take more than in the file: a q4_K has 4.5 there and 5 here.
std::optional<double> bits_of_weight(std::string_view type);

}  // namespace npuscope::ggml
