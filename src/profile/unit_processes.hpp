// Processes of units: which one each unit is part of, and those of one name told apart.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope {

// Numbers those that share a name, as lanes: the first is 0. Their names stay what the trace says;
// a path says of the others which process they are, "python (4711)".
inline void number_namesakes(Profile& profile) {
  std::unordered_map<StringId, std::uint32_t> count;
  for (Unit& unit : profile.units) {
    if (unit.engine == Engine::process) unit.lane = count[unit.name]++;
  }
}

// The process that each unit of a trace is part of: the outermost of its parents.
class UnitRoots {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};  // of a unit that does not exist

  explicit UnitRoots(const Profile& profile) : root_(profile.units.size()) {
    constexpr int max_depth = 16;  // units whose parents form a ring
    for (std::uint32_t i = 0; i < root_.size(); ++i) {
      std::uint32_t root = i;
      for (int depth = 0; depth < max_depth; ++depth) {
        const std::uint32_t parent = index_of(profile.units[root].parent);
        if (parent >= root_.size()) break;
        root = parent;
      }
      root_[i] = root;
    }
  }

  std::uint32_t of(UnitId unit) const {
    return index_of(unit) < root_.size() ? root_[index_of(unit)] : none;
  }
  std::size_t units() const { return root_.size(); }

 private:
  std::vector<std::uint32_t> root_;
};

}  // namespace npuscope
