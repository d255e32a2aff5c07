// Interned strings: each distinct text is kept once and named by a 32-bit id, so tables of events
// hold ids and comparing two names is comparing two integers. Id 0 is the empty string.
//
//   StringPool strings;
//   const StringId name = strings.intern("aicconvolutiond32");
//   strings[name]                          // "aicconvolutiond32"
//   strings.intern("aicconvolutiond32");   // the same id
//
// Copies share the texts, which never change, so copying a pool of a million names takes
// milliseconds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace npuscope {

enum class StringId : std::uint32_t { empty = 0 };

class StringPool {
 public:
  StringPool();
  StringPool(const StringPool& other);
  StringPool& operator=(const StringPool& other);
  StringPool(StringPool&&) noexcept = default;
  StringPool& operator=(StringPool&&) noexcept = default;

  StringId intern(std::string_view text);
  // The same for many, in this order, several times as fast in a large pool: while one is looked
  // up, the memory that the next ones need is on its way.
  void intern(std::span<const std::string_view> texts, std::vector<StringId>& ids);
  // The id of a text that is there already.
  std::optional<StringId> find(std::string_view text) const;
  // The view stays valid as long as the pool or a copy of it, whatever is interned later.
  std::string_view operator[](StringId id) const { return texts_[std::uint32_t(id)]; }
  std::size_t size() const { return texts_.size(); }

 private:
  struct Slot {
    std::uint32_t hash = 0;  // upper half of the text's hash
    std::uint32_t id_plus_one = 0;
  };

  StringId intern(std::string_view text, std::uint64_t hash);
  std::size_t slot_of(std::string_view text, std::uint64_t hash) const;
  std::string_view keep(std::string_view text);
  void grow();

  std::vector<std::shared_ptr<char[]>> blocks_;
  char* free_ = nullptr;
  std::size_t free_bytes_ = 0;
  std::vector<std::string_view> texts_;
  std::vector<Slot> slots_;  // open addressing; a power of two, at most half full
};

}  // namespace npuscope
