// The part of ChunkParser for chunks that simdjson refuses.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "formats/chrome/parse/chunk_parser.hpp"
#include "formats/chrome/text/damaged_text.hpp"

namespace npuscope::chrome {
namespace {

// Events that look sound but cannot be read are left out one after the other, so often; then all.
constexpr std::size_t max_attempts = 8;

// A stray [ makes a list in the list; so deep is looked for events.
constexpr std::size_t deepest_list = 4;

// Gathers the sound events of a damaged text.
struct Cleaner {
  const std::vector<std::uint64_t>& unreadable;  // events to leave out, by their place in the file
  Problems& problems;
  std::string text;
  std::vector<std::pair<std::size_t, std::uint64_t>> places;  // in `text`, in the file

  void add(std::string_view damaged, std::uint64_t offset, std::size_t depth) {
    for (std::size_t begin = 0; begin < damaged.size();) {
      const CarefulSplit split = split_carefully(damaged.substr(begin));
      for (const Piece& piece : split.pieces) {
        const std::size_t at = begin + piece.begin;
        add_piece(piece, damaged.substr(at, piece.end - piece.begin), offset + at, depth);
      }
      begin += split.end;
      if (split.list_end) {
        problems.add(Problem::text_between, offset + begin);
        ++begin;
      } else if (begin < damaged.size()) {
        problems.add(Problem::broken_event, offset + begin);
        return;
      }
    }
  }

  void add_piece(const Piece& piece, std::string_view event, std::uint64_t offset,
                 std::size_t depth) {
    if (piece.sound && event[0] == '[' && depth < deepest_list) {
      problems.add(Problem::text_between, offset);
      add(event.substr(1, event.size() - 2), offset + 1, depth + 1);
    } else if (event[0] != '{' || std::ranges::count(unreadable, offset) > 0) {
      problems.add(Problem::broken_event, offset);
    } else if (piece.mendable) {
      problems.add(Problem::mended, offset);
      add_event(mended(event), offset);
    } else if (!piece.sound) {
      problems.add(Problem::broken_event, offset);
    } else {
      add_event(event, offset);
    }
  }

  void add_event(std::string_view event, std::uint64_t offset) {
    if (!text.empty()) text += ',';
    places.emplace_back(text.size(), offset);
    if (simdjson::validate_utf8(event.data(), event.size())) {
      text += event;
    } else {
      text += valid_utf8(event);
      problems.add(Problem::bad_utf8, offset);
    }
  }
};

}  // namespace

// What is sound is parsed again, without the rest.
void ChunkParser::parse_damaged(ChunkTable& table) {
  std::vector<std::uint64_t> unreadable;
  while (unreadable.size() < max_attempts) {
    clear(table);
    auto list = clean_list(table, unreadable);
    if (!list) return;
    const auto broken = parse_list(std::move(*list), table);
    if (!broken) return;
    unreadable.push_back(*broken);
  }
  const std::uint64_t events = std::uint64_t(std::ranges::count(table.chunk.text(), '{'));
  clear(table);
  table.problems.add(Problem::broken_event, table.chunk.offset, events);
}

std::optional<ChunkParser::List> ChunkParser::clean_list(
    ChunkTable& table, const std::vector<std::uint64_t>& unreadable) {
  Cleaner cleaner{unreadable, table.problems, {}, {}};
  cleaner.add(table.chunk.text(), table.chunk.offset, 0);
  if (cleaner.text.empty()) return std::nullopt;
  TextBuffer& buffer = table.other_buffers.emplace_back(cleaner.text.size());
  std::memcpy(buffer.data(), cleaner.text.data(), cleaner.text.size());
  List list;
  list.begin = buffer.data();
  list.size = cleaner.text.size();
  list.offset = table.chunk.offset;
  list.places = std::move(cleaner.places);
  return list;
}

}  // namespace npuscope::chrome
