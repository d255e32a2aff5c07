// Which row of the memory table each op belongs to.
//
//   "/layer.0/MatMul/__3"  ->  "/layer.0/MatMul"
//   "weight_4711", loaded for a tile of it  ->  "/layer.0/MatMul"
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "npuscope/analysis/memory.hpp"

namespace npuscope::analysis {

struct MemoryGroups {
  std::vector<std::uint32_t> of_op;
  std::vector<MemoryRow> rows;   // with label, kind and ops
  std::uint32_t without_op = 0;  // the row of spans without an op
  // The model's nodes, and the row of each: several where layers are folded.
  std::vector<std::pair<std::string, std::uint32_t>> nodes;

  std::uint32_t of(OpId op) const {
    return index_of(op) < of_op.size() ? of_op[index_of(op)] : without_op;
  }
};

MemoryGroups make_memory_groups(const Profile& profile, MemoryGrouping grouping);

// A node's name as it is compared: names reach devices with other signs for slashes and dots.
std::string plain_node_name(std::string_view name);

}  // namespace npuscope::analysis
