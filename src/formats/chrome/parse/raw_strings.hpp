// The distinct strings of one chunk by their raw bytes, escapes and all: looking up a string that
// came before costs a hash and a comparison, and unescaping happens once for each. Those that came
// lately are found by their first and last bytes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/string_pool.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace npuscope::chrome {

// Text compared 16 bytes at a time.

inline constexpr std::size_t step_bytes = 16;

#ifdef __SSE2__
inline __m128i step_at(const char* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

// Up to a step behind either is read.
inline bool same_text(const char* a, const char* b, std::size_t size) {
  for (; size > step_bytes; size -= step_bytes, a += step_bytes, b += step_bytes) [[unlikely]] {
    if (_mm_movemask_epi8(_mm_cmpeq_epi8(step_at(a), step_at(b))) != 0xffff) return false;
  }
  const auto equal = unsigned(_mm_movemask_epi8(_mm_cmpeq_epi8(step_at(a), step_at(b))));
  return (~equal & ((1u << size) - 1)) == 0;
}
#else
inline bool same_text(const char* a, const char* b, std::size_t size) {
  return std::memcmp(a, b, size) == 0;
}
#endif

class RawStrings {
 public:
  enum class Kind : std::uint8_t { text, json };
  struct Interned {
    StringId id{};  // of this chunk only; 0 is the empty text
    bool is_new = false;
  };

  RawStrings();
  void clear();
  // Up to `margin` bytes before and behind `raw` must be readable, and it must stay where it is
  // until take_texts().
  static constexpr std::size_t margin = 16;
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
  // All bytes of a string of up to 16 bytes, the first and last 8 of a longer one.
  struct Words {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    bool operator==(const Words&) const = default;
  };
  static Words words_of(std::string_view raw);
  static bool same_raw(std::string_view a, std::string_view b);
  static std::uint32_t hash_of(std::string_view raw, Kind kind);
  // One that came lately.
  struct Recent {
    Words words;
    std::string_view raw;
    Kind kind = Kind::text;
    StringId id{};  // empty: none
  };
  Interned look_up(std::string_view raw, Kind kind);

  struct Entry {
    std::string_view raw;
    std::uint32_t hash = 0;
    Kind kind = Kind::text;
    std::int32_t replaced = -1;  // in made_
  };
  void grow();

  std::array<Recent, 512> recent_;
  std::vector<std::uint32_t> slots_;  // id + 1; open addressing, at most half full
  std::vector<Entry> entries_;
  std::deque<std::string> made_;
};

inline RawStrings::Words RawStrings::words_of(std::string_view raw) {
  const auto word = [](const char* bytes) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes, sizeof bits);
    return bits;
  };
  const std::size_t size = raw.size();
  if (size >= 8) return {word(raw.data()), word(raw.data() + size - 8)};
  return {size == 0 ? 0 : word(raw.data()) << (64 - 8 * size), 0};
}

inline bool RawStrings::same_raw(std::string_view a, std::string_view b) {
  return a.size() == b.size() && same_text(a.data(), b.data(), a.size());
}

inline RawStrings::Interned RawStrings::intern(std::string_view raw, Kind kind) {
  const Words words = words_of(raw);
  const std::uint64_t mixed = (words.first ^ std::rotl(words.last, 24)) * 0x9e3779b97f4a7c15;
  Recent& recent = recent_[mixed >> 55];
  constexpr std::size_t in_words = sizeof(Words);
  if (recent.words == words && recent.raw.size() == raw.size() && recent.kind == kind &&
      recent.id != StringId::empty && (raw.size() <= in_words || same_raw(recent.raw, raw))) {
    return {recent.id, false};
  }
  const Interned found = look_up(raw, kind);
  recent = {words, raw, kind, found.id};
  return found;
}

}  // namespace npuscope::chrome
