// Appends the tables of a file's chunks, in file order, to the columns of its events, and numbers
// strings, threads and shapes for the whole file. Columns get room for what the rest of the file
// will bring, so that nothing lies in memory twice.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "formats/chrome/collect/pairing.hpp"
#include "formats/chrome/events.hpp"
#include "formats/chrome/numbering.hpp"
#include "formats/chrome/parse/chunk_table.hpp"

namespace npuscope::chrome {

// The processes and threads of a file, and what its M events say about them.
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

class EventCollector {
 public:
  explicit EventCollector(BufferPool& buffers) : buffers_(buffers) {}

  // The next chunk's table; its text is not needed any more.
  void append(ChunkTable&& table);
  bool any_events() const { return events_ > 0; }
  Problems& problems() { return problems_; }
  // Everything, with slices begun and ended paired.
  Events finish();

 private:
  // A chunk that is being appended, and what its numbers mean in the whole file.
  struct Part {
    ChunkTable table;
    std::vector<StringId> strings;
    std::vector<std::uint32_t> threads;
    std::vector<std::uint32_t> slice_shapes;
    std::vector<std::uint32_t> mark_shapes;
    std::vector<std::vector<std::uint32_t>> text_places;  // of each shape, in its values
  };

  void number_threads(Part& part);
  template <class Row>
  void number_shapes(const Part& part, const RowBuffer<Row>& rows, ShapeTable& table,
                     std::vector<std::uint32_t>& numbers);
  void append_slices(Part& part);
  void append_marks(Part& part);
  void append_ends(Part& part);

  BufferPool& buffers_;
  StringPool strings_;
  ThreadTable threads_;
  ShapeTable slice_shapes_;  // with those of ends
  ShapeTable mark_shapes_;
  Slices slices_;
  Marks marks_;
  Ends ends_;
  Problems problems_;
  std::uint64_t events_ = 0;
  bool has_begins_ = false;
};

}  // namespace npuscope::chrome
