// The distinct strings of one chunk by their raw bytes, escapes and all: looking up a string that
// came before costs a hash and a comparison, and unescaping happens once for each.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/string_pool.hpp"

namespace npuscope::chrome {

class RawStrings {
 public:
  enum class Kind : std::uint8_t { text, json };
  struct Interned {
    StringId id{};  // of this chunk only; 0 is the empty text
    bool is_new = false;
  };

  RawStrings();
  void clear();
  // Up to 8 bytes before and behind `raw` must be readable, and it must stay where it is until
  // take_texts().
  Interned intern(std::string_view raw, Kind kind);
  std::string_view raw(StringId id) const { return entries_[std::uint32_t(id)].raw; }
  std::size_t size() const { return entries_.size(); }
  // What this id stands for is `text`, not its raw bytes.
  void replace(StringId id, std::string text);

  struct Texts {
    std::vector<std::string_view> texts;  // by id
    std::deque<std::string> made;         // those that do not stand in the chunk as they are
    std::uint64_t badly_escaped = 0;
    const char* first_badly_escaped = nullptr;
  };
  // Unescaped.
  Texts take_texts();

 private:
  struct Entry {
    std::string_view raw;
    std::uint32_t hash = 0;
    Kind kind = Kind::text;
    std::int32_t replaced = -1;  // in made_
  };
  void grow();

  std::vector<std::uint32_t> slots_;  // id + 1; open addressing, at most half full
  std::vector<Entry> entries_;
  std::deque<std::string> made_;
};

}  // namespace npuscope::chrome
