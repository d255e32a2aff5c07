#include "npuscope/base/string_pool.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace npuscope {
namespace {

constexpr std::size_t first_slots = 64;
constexpr std::size_t first_block_bytes = 1024;
constexpr std::size_t texts_at_once = 32;
constexpr std::size_t largest_block_bytes = 1 << 20;

std::uint64_t hash_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

}  // namespace

StringPool::StringPool() : slots_(first_slots) { intern(""); }

StringPool::StringPool(const StringPool& other) { *this = other; }

// The free room stays with the original alone.
StringPool& StringPool::operator=(const StringPool& other) {
  if (this == &other) return *this;
  blocks_ = other.blocks_;
  free_ = nullptr;
  free_bytes_ = 0;
  texts_ = other.texts_;
  slots_ = other.slots_;
  return *this;
}

StringId StringPool::intern(std::string_view text) { return intern(text, hash_of(text)); }

// A lookup waits for memory three times: the slot, the text's place, the text.
void StringPool::intern(std::span<const std::string_view> texts, std::vector<StringId>& ids) {
  std::array<std::uint64_t, texts_at_once> hashes{};
  while (!texts.empty()) {
    const auto group = texts.first(std::min(texts.size(), texts_at_once));
    const auto slot = [&](std::size_t i) -> const Slot& {
      return slots_[hashes[i] & (slots_.size() - 1)];
    };
    for (std::size_t i = 0; i < group.size(); ++i) {
      hashes[i] = hash_of(group[i]);
      __builtin_prefetch(&slot(i));
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (slot(i).id_plus_one != 0) __builtin_prefetch(&texts_[slot(i).id_plus_one - 1]);
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (slot(i).id_plus_one != 0) __builtin_prefetch(texts_[slot(i).id_plus_one - 1].data());
    }
    for (std::size_t i = 0; i < group.size(); ++i) ids.push_back(intern(group[i], hashes[i]));
    texts = texts.subspan(group.size());
  }
}

StringId StringPool::intern(std::string_view text, std::uint64_t hash) {
  const std::size_t slot = slot_of(text, hash);
  if (slots_[slot].id_plus_one != 0) return StringId(slots_[slot].id_plus_one - 1);
  texts_.push_back(keep(text));
  slots_[slot] = {std::uint32_t(hash >> 32), std::uint32_t(texts_.size())};
  if (texts_.size() * 2 > slots_.size()) grow();
  return StringId(texts_.size() - 1);
}

std::optional<StringId> StringPool::find(std::string_view text) const {
  const Slot& slot = slots_[slot_of(text, hash_of(text))];
  if (slot.id_plus_one == 0) return std::nullopt;
  return StringId(slot.id_plus_one - 1);
}

// Where the text is, or where it would go.
std::size_t StringPool::slot_of(std::string_view text, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot].id_plus_one != 0) {
    const bool alike = slots_[slot].hash == std::uint32_t(hash >> 32);
    if (alike && texts_[slots_[slot].id_plus_one - 1] == text) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

std::string_view StringPool::keep(std::string_view text) {
  if (text.empty()) return "";  // not of nowhere: people pass it on to C
  if (text.size() > free_bytes_) {
    const std::size_t doubled = first_block_bytes << std::min<std::size_t>(blocks_.size(), 10);
    const std::size_t bytes = std::max(text.size(), std::min(doubled, largest_block_bytes));
    blocks_.emplace_back(new char[bytes]);
    free_ = blocks_.back().get();
    free_bytes_ = bytes;
  }
  std::memcpy(free_, text.data(), text.size());
  const std::string_view kept(free_, text.size());
  free_ += text.size();
  free_bytes_ -= text.size();
  return kept;
}

void StringPool::grow() {
  std::vector<Slot> bigger(slots_.size() * 2);
  const std::size_t mask = bigger.size() - 1;
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const std::uint64_t hash = hash_of(texts_[i]);
    std::size_t slot = hash & mask;
    while (bigger[slot].id_plus_one != 0) slot = (slot + 1) & mask;
    bigger[slot] = {std::uint32_t(hash >> 32), std::uint32_t(i + 1)};
  }
  slots_ = std::move(bigger);
}

}  // namespace npuscope
