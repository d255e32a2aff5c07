// Snapshots: what npuscope says when it writes one, and the page of one that is opened.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "npuscope/profile/run_numbers.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

struct WrittenSnapshot {
  struct Run {
    const Profile* profile;
    const RunNumbers* numbers;
  };
  std::string path;
  std::uint64_t bytes = 0;
  std::vector<Run> runs;
};

std::string snapshot_written_text(const WrittenSnapshot& written);
std::string snapshot_written_json(const WrittenSnapshot& written, std::span<const Note> notes);

// Of a profile with `numbers`: what it was made of, its numbers, and what it cannot say.
Document snapshot_document(const Profile& profile);

}  // namespace npuscope::report
