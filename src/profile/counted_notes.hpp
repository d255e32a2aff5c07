// What a reader could not take from a file, counted by message and located where it first happened:
//
//   CountedNotes losses("a.json");
//   losses.add(Severity::warning, 812, "a row of htp_op_instances has no start_cycle; left out");
//   losses.append_to(profile.notes);   // one note, with a count
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope {

class CountedNotes {
 public:
  explicit CountedNotes(std::string file = {}) : file_(std::move(file)) {}

  void add(Severity severity, std::uint64_t offset, std::string_view message,
           std::uint64_t count = 1);
  void append_to(std::vector<Note>& notes) const;

  const std::string& file() const { return file_; }
  const std::vector<Note>& notes() const { return notes_; }

 private:
  std::string file_;
  std::vector<Note> notes_;  // few: messages name kinds of losses, not single ones
};

}  // namespace npuscope
