// Arguments of a trace's slices that no table of the profile holds, kept as they are.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "npuscope/profile/arguments.hpp"

namespace npuscope::qaic {

class KeptArguments {
 public:
  KeptArguments(const Arguments& from, std::size_t rows) : from_(from), rows_(rows) {}

  // `places` of the arguments of a row behind the last that keeps some.
  void keep(std::size_t row, const std::vector<std::uint32_t>& places) {
    const ArgumentRow arguments = from_.row(row);
    values_.clear();
    for (const std::uint32_t place : places) values_.push_back(arguments.bits(place));
    kept_.add(row, shape_of(arguments.shape(), places), values_);
  }
  Arguments finish() {
    kept_.resize(rows_);
    return std::move(kept_);
  }

 private:
  std::uint32_t shape_of(std::uint32_t shape, const std::vector<std::uint32_t>& places) {
    // Most rows keep what one of those before them keeps.
    for (const Shapes::value_type* const recent : recent_) {
      if (recent != nullptr && recent->first.first == shape && recent->first.second == places) {
        return recent->second;
      }
    }
    const auto [found, is_new] =
        shapes_.try_emplace({shape, places}, std::uint32_t(kept_.shapes.size()));
    if (is_new) {
      ArgumentShape kept;
      for (const std::uint32_t place : places) kept.push_back(from_.shapes[shape][place]);
      kept_.shapes.push_back(std::move(kept));
    }
    recent_[1] = std::exchange(recent_[0], &*found);
    return found->second;
  }

  const Arguments& from_;
  std::size_t rows_;
  Arguments kept_;
  using Shapes = std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, std::uint32_t>;
  Shapes shapes_;
  std::array<const Shapes::value_type*, 2> recent_{};
  std::vector<std::uint64_t> values_;  // of a row
};

}  // namespace npuscope::qaic
