// Which operators the hardware runs as one layer: up to three in a row, of which each takes the
// one's result before it and nothing else does, so that it never leaves the chip. Members need no
// rows but their own: convolutions of 1 x 1 and elementwise operators.
//
//   CONV_2D 3x3, CONV_2D 1x1, ADD     one layer; the operand that ADD takes from elsewhere is
//   loaded
#pragma once

#include <vector>

#include "npu/ipu/work.hpp"

namespace npuscope::npu::ipu {

struct OperatorGroup {
  std::size_t first = 0;  // in Lowered::operators
  std::size_t count = 1;
  Work work;
};

// In the operators' order; aliases are in none.
std::vector<OperatorGroup> group_operators(const Lowered& lowered, std::uint64_t batch,
                                           const Target& target);

}  // namespace npuscope::npu::ipu
