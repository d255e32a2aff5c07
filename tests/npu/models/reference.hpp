// The transformers that generated models claim to be, written down once more: plain loops, a token
// at a time, with the random weights that the interpreter gives to the same names.
#pragma once

#include <cstdint>
#include <vector>

#include "npuscope/npu/models/architecture.hpp"

namespace npuscope::npu::test_support {

using Row = std::vector<double>;

// Elements [index * size, (index + 1) * size) of x.
Row part(const Row& x, std::int64_t index, std::int64_t size);

// Logits of the last of `tokens`, the first at position 0.
Row reference_logits(const Architecture& decoder, const std::vector<std::int64_t>& tokens);

struct EncoderToken {
  std::int64_t id = 0;
  std::int64_t type = 0;
  bool attended = true;
};

// The last hidden state of each token.
std::vector<Row> reference_hidden_states(const Architecture& encoder,
                                         const std::vector<EncoderToken>& tokens);

}  // namespace npuscope::npu::test_support
