// The part of ChunkParser for chunks that simdjson refuses.
#include <algorithm>
#include <cstring>
#include <string>

#include "formats/chrome/careful_split.hpp"
#include "formats/chrome/chunk_parser.hpp"
#include "formats/chrome/utf8.hpp"

namespace npuscope::chrome {
namespace {

// Events that look sound but cannot be read are left out one after the other, so often; then all.
constexpr std::size_t most_attempts = 8;

}  // namespace

// What is sound is parsed again, without the rest.
void ChunkParser::parse_damaged(ChunkTable& table) {
  std::vector<std::uint64_t> unreadable;
  while (unreadable.size() < most_attempts) {
    clear(table);
    const auto list = clean_list(table, unreadable);
    if (!list) return;
    const auto broken = parse_list(*list, table);
    if (!broken) return;
    unreadable.push_back(*broken);
  }
  const std::uint64_t events = std::uint64_t(std::ranges::count(table.chunk.text(), '{'));
  clear(table);
  table.problems.add(Problem::broken_event, table.chunk.offset, events);
}

std::optional<ChunkParser::List> ChunkParser::clean_list(
    ChunkTable& table, const std::vector<std::uint64_t>& unreadable) {
  const std::string_view text = table.chunk.text();
  std::string cleaned;
  List list;
  std::size_t begin = 0;
  const auto broken = [&](std::size_t at) {
    table.problems.add(Problem::broken_event, table.chunk.offset + at);
  };
  while (begin < text.size()) {
    const CarefulSplit split = split_carefully(text.substr(begin));
    for (const Piece& piece : split.pieces) {
      const std::string_view event = text.substr(begin + piece.begin, piece.end - piece.begin);
      const std::uint64_t offset = table.chunk.offset + begin + piece.begin;
      if (!piece.sound || event[0] != '{' || std::ranges::count(unreadable, offset) > 0) {
        broken(begin + piece.begin);
        continue;
      }
      if (!cleaned.empty()) cleaned += ',';
      list.places.emplace_back(cleaned.size(), offset);
      if (simdjson::validate_utf8(event.data(), event.size())) {
        cleaned += event;
      } else {
        append_valid_utf8(event, cleaned);
        table.problems.add(Problem::bad_utf8, offset);
      }
    }
    begin += split.end;
    if (split.list_end) {
      table.problems.add(Problem::text_between, table.chunk.offset + begin);
      ++begin;
    } else if (begin < text.size()) {
      broken(begin);
      break;
    }
  }
  if (cleaned.empty()) return std::nullopt;
  TextBuffer& buffer = table.other_buffers.emplace_back(cleaned.size());
  std::memcpy(buffer.data(), cleaned.data(), cleaned.size());
  list.begin = buffer.data();
  list.size = cleaned.size();
  list.offset = table.chunk.offset;
  return list;
}

}  // namespace npuscope::chrome
