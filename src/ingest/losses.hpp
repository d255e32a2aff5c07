// What a reader had to leave out: counted by kind, with the place of the first, and told as notes.
//
//   enum class Defect : std::uint8_t { no_time, truncated, kinds };   // `kinds`: how many there
//   are LossWords words_of(Defect defect);                                // found by the ledger
//
//   LossLedger<Defect> losses;
//   losses.add(Defect::no_time, 812);
//   losses.notes("a.json");   // in the order of the kinds
//
// Adding costs next to nothing, so that it may happen for each event; what is told in words made
// from the input is counted by CountedNotes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope {

struct LossWords {
  Severity severity;
  const char* message;
};

// How often something was lost, and where first.
struct LossTally {
  static constexpr std::uint64_t nowhere = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t count = 0;
  std::uint64_t first_offset = nowhere;

  void add(std::uint64_t offset, std::uint64_t more = 1) {
    if (more == 0) return;
    count += more;
    first_offset = std::min(first_offset, offset);
  }
  Note note(Severity severity, const std::string& file, std::string message) const {
    return {severity, file, first_offset == nowhere ? 0 : first_offset, std::move(message), count};
  }
};

template <class Kind>
class LossLedger {
 public:
  void add(Kind kind, std::uint64_t offset, std::uint64_t count = 1) {
    tallies_[std::size_t(kind)].add(offset, count);
  }
  // Of what has no one place in the file.
  void add_without_place(Kind kind, std::uint64_t count = 1) {
    add(kind, LossTally::nowhere, count);
  }
  // Those of a later part of the same file.
  void add(const LossLedger& others) {
    for (std::size_t i = 0; i < tallies_.size(); ++i) {
      tallies_[i].add(others.tallies_[i].first_offset, others.tallies_[i].count);
    }
  }

  std::uint64_t count(Kind kind) const { return tallies_[std::size_t(kind)].count; }
  bool any() const {
    return std::ranges::any_of(tallies_, [](const LossTally& tally) { return tally.count > 0; });
  }

  std::vector<Note> notes(const std::string& file) const {
    std::vector<Note> notes;
    for (std::size_t i = 0; i < tallies_.size(); ++i) {
      if (tallies_[i].count == 0) continue;
      const LossWords words = words_of(Kind(i));
      notes.push_back(tallies_[i].note(words.severity, file, words.message));
    }
    return notes;
  }

 private:
  std::array<LossTally, std::size_t(Kind::kinds)> tallies_{};
};

}  // namespace npuscope
