// The processes and threads of a file, and what its M events say about them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "formats/chrome/events.hpp"
#include "formats/chrome/pair_table.hpp"
#include "formats/chrome/parse/chunk_table.hpp"

namespace npuscope::chrome {

class ThreadTable {
 public:
  std::uint32_t index(StringId process, StringId thread) {
    return threads_.intern(std::uint32_t(process), std::uint32_t(thread));
  }
  // Its strings are those of the file. A later event replaces what an earlier one said.
  void add(const Metadata& metadata);
  // In the order in which they were met; a named process without threads has one without an id.
  std::vector<Thread> take_threads();

 private:
  struct Process {
    StringId name{};
    StringId labels{};
    std::int64_t sort_index = 0;
    bool has_thread = false;
  };
  struct Named {
    StringId name{};
    std::int64_t sort_index = 0;
  };

  PairTable threads_;
  std::vector<Named> named_;  // by thread; may be shorter
  std::vector<StringId> process_order_;
  std::unordered_map<std::uint32_t, Process> processes_;
};

}  // namespace npuscope::chrome
