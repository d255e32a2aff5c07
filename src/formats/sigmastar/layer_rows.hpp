// The rows of a profile that are layers of an IPU timeline, by their arguments, and what those say.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/sigmastar/layer_keys.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::sigmastar {

struct LayerRow {
  std::size_t row = 0;
  std::uint32_t core = 0;
  double cycles = -1;                                               // total_cycle; -1: not said
  std::array<double, percent_keys.size()> percent{-1, -1, -1, -1};  // as percent_keys; -1: not said
  std::optional<std::uint64_t> index;
};

// By the names of the unit and of what it is part of (a thread, its process), or its process id.
std::optional<std::uint32_t> core_of(const Profile& profile, UnitId unit);

class LayerRows {
 public:
  explicit LayerRows(const Profile& profile);

  const std::vector<LayerRow>& layers() const { return layers_; }
  std::uint64_t unreadable() const { return unreadable_; }  // numbers that are none

 private:
  void read(const Profile& profile, std::size_t row, const std::vector<LayerKey>& roles);
  void number_cores(const Profile& profile);

  std::vector<LayerRow> layers_;
  std::uint64_t unreadable_ = 0;
};

}  // namespace npuscope::sigmastar
