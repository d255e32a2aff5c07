// Interned strings: each distinct text is kept once and named by a 32-bit id, so tables of events
// hold ids and comparing two names is comparing two integers. Id 0 is the empty string.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

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
  // The view stays valid as long as the pool, whatever is interned later.
  std::string_view operator[](StringId id) const { return texts_[std::uint32_t(id)]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, StringId> ids_;
};

}  // namespace npuscope
