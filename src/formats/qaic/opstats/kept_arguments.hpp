// Arguments of a trace's slices that no table of the profile holds, kept as they are.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "npuscope/profile/arguments.hpp"

namespace npuscope::qaic {

class KeptArguments {
 public:
  KeptArguments(const Arguments& from, std::size_t rows) : from_(from), rows_(rows) {}

  // `places` of the row's arguments; nothing is stored until the first row that keeps any.
  void keep(std::size_t row, const std::vector<std::uint32_t>& places) {
    if (kept_.shape.empty()) {
      kept_.shape.assign(rows_, 0);
      kept_.first.assign(rows_, 0);
    }
    kept_.shape[row] = shape_of(from_.shape[row], places);
    kept_.first[row] = std::uint32_t(kept_.values.size());
    for (const std::uint32_t place : places) kept_.values.push_back(from_.at(row, place).bits);
  }
  Arguments finish() { return std::move(kept_); }

 private:
  std::uint32_t shape_of(std::uint32_t shape, const std::vector<std::uint32_t>& places) {
    const auto [found, is_new] =
        shapes_.try_emplace({shape, places}, std::uint32_t(kept_.shapes.size()));
    if (is_new) {
      ArgumentShape kept;
      for (const std::uint32_t place : places) kept.push_back(from_.shapes[shape][place]);
      kept_.shapes.push_back(std::move(kept));
    }
    return found->second;
  }

  const Arguments& from_;
  std::size_t rows_;
  Arguments kept_;
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, std::uint32_t> shapes_;
};

}  // namespace npuscope::qaic
