// Einsum's equation ("bhqd,bhkd->bhqk") with the size of every letter known.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "npu/graph/graph.hpp"

namespace npuscope::npu {

struct Einsum {
  std::vector<std::string> operands;  // letters of each input, an ellipsis written out as digits
  std::string output;
  std::map<char, std::int64_t> sizes;
};

// Throws OperatorFailure for an equation that does not fit the shapes.
Einsum parse_einsum(std::string_view equation, const std::vector<Shape>& shapes);

}  // namespace npuscope::npu
