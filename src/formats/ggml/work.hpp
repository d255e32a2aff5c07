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
#pragma once

#include "formats/ggml/operation.hpp"

namespace npuscope::ggml {

bool is_weight(const Tensor& tensor);
void find_work(Operation& operation);

// Bits that the NPU reads for an element of this type; none: unknown. Types of ggml that the
// backend repacks take more than in the file: a q4_K has 4.5 there and 5 here.
std::optional<double> bits_of_weight(std::string_view type);

}  // namespace npuscope::ggml
