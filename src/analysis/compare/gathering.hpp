// Values of groups of ops and inferences, put together.
#pragma once

#include <cstdint>
#include <vector>

#include "npuscope/analysis/samples.hpp"

namespace npuscope::analysis {

// Puts values of groups and inferences together: those of a group, then those of an inference. A
// table of all of them where that is not much larger than the values, else only those that are.
class Gathering {
 public:
  struct Entry {
    std::uint32_t group = 0;
    std::uint32_t inference = 0;  // a number from 0 on
    double value = 0;
  };

  Gathering(std::size_t groups, std::size_t inferences, std::size_t values);

  void add(Entry entry) {
    if (sums_.empty()) {
      entries_.push_back(entry);
      return;
    }
    const std::size_t place = std::size_t{entry.inference} * groups_ + entry.group;
    sums_[place] += entry.value;
    seen_[place] = 1;
  }

  // Fills in the entries, where each group's begin, and the inferences that have any. `ids`: what
  // the inferences are called.
  void finish(const std::vector<std::uint32_t>& ids, OpSamples& out);

 private:
  void put_rows(std::size_t first, const std::vector<std::uint32_t>& ids, OpSamples& out);
  void put_entries(std::size_t& next, const std::vector<std::uint32_t>& ids, OpSamples& out);

  std::size_t groups_, inferences_;
  std::vector<double> sums_;  // by inference, then by group: as runs have them
  std::vector<std::uint8_t> seen_;
  std::vector<Entry> entries_;
  std::vector<bool> any_;
};

}  // namespace npuscope::analysis
