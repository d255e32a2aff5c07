// The events of one chunk. Strings, threads and shapes are numbered within the chunk.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "formats/chrome/pair_table.hpp"
#include "formats/chrome/parse/event_rows.hpp"
#include "formats/chrome/parse/raw_strings.hpp"
#include "formats/chrome/problems.hpp"
#include "formats/chrome/text/chunk.hpp"

namespace npuscope::chrome {

// An M event of a kind that the format knows.
struct Metadata {
  enum class What : std::uint8_t {
    process_name,
    process_labels,
    process_sort_index,
    thread_name,
    thread_sort_index,
  };
  What what = What::process_name;
  StringId process_id{};
  StringId thread_id{};
  StringId text{};
  std::int64_t number = 0;
};

struct ChunkTable {
  Chunk chunk;
  std::vector<TextBuffer> other_buffers;  // where texts stand that do not stand in the chunk
  std::deque<std::string> composed;
  RawStrings::Texts strings;
  PairTable threads;  // process and thread id
  std::vector<ArgumentShape> shapes;
  RowBuffer<SliceRow> slices;
  RowBuffer<MarkRow> marks;
  RowBuffer<EndRow> ends;
  std::vector<Metadata> metadata;
  Problems problems;
  bool has_begins = false;  // some slices are unfinished
};

}  // namespace npuscope::chrome
