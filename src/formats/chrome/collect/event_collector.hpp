// Puts the tables of a file's chunks together, in file order: numbers strings, threads and shapes
// for the whole file, then joins the columns one after the other, so that little lies in memory
// twice.
#pragma once

#include <vector>

#include "formats/chrome/collect/thread_table.hpp"
#include "formats/chrome/parse/chunk_table.hpp"
#include "formats/chrome/shape_table.hpp"

namespace npuscope::chrome {

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
  // A chunk's rows and what its numbers mean in the whole file.
  struct Part {
    std::vector<StringId> strings;
    std::vector<std::uint32_t> threads;
    std::vector<ArgumentShape> chunk_shapes;
    std::vector<std::uint32_t> slice_shapes;
    std::vector<std::uint32_t> mark_shapes;
    Slices slices;
    Marks marks;
    Ends ends;
  };

  void drop_surplus(Arguments& arguments, std::uint64_t& values, std::uint64_t offset);
  void number_shapes(Part& part);
  void join_slices(Slices& to);
  void join_marks(Marks& to);
  void number_slices_before();
  void join_ends(Ends& to);

  BufferPool& buffers_;
  std::vector<Part> parts_;
  StringPool strings_;
  ThreadTable threads_;
  ShapeTable slice_shapes_;
  ShapeTable mark_shapes_;
  Problems problems_;
  std::uint64_t events_ = 0;
  std::uint64_t slice_values_ = 0;  // of arguments, with those of ends
  std::uint64_t mark_values_ = 0;
  bool has_begins_ = false;
};

}  // namespace npuscope::chrome
