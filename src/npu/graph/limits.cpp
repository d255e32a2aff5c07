#include "npu/graph/limits.hpp"

#include <algorithm>

namespace npuscope::npu::limits {

// 2^56 bytes: a thousand times what any machine holds, and sums of them do not overflow.
constexpr std::int64_t largest = std::int64_t(1) << 56;

bool folds_as_integer(DataType type) {
  return (type >= DataType::int8 && type <= DataType::boolean);
}

std::optional<std::string> problem_of(const Tensor& tensor) {
  if (tensor.shape.size() > rank) {
    return fmt::format("has {} dimensions and {} are the limit", tensor.shape.size(), rank);
  }
  for (const std::int64_t dimension : tensor.shape) {
    if (dimension < 0 || dimension >= largest)
      return fmt::format("has a dimension of {}", dimension);
  }
  if (tensor.elements() >= std::uint64_t(largest) || tensor.bytes() >= std::uint64_t(largest)) {
    return "would have more than 2^56 bytes";
  }
  return std::nullopt;
}

}  // namespace npuscope::npu::limits
