#include "formats/chrome/parse/raw_strings.hpp"

#include <xxhash.h>
#include <algorithm>
#include <utility>

#include "formats/chrome/text/json_checker.hpp"

namespace npuscope::chrome {
namespace {

constexpr std::size_t first_string_slots = 4096;

}  // namespace

// Most strings are short; for those a multiplication beats the call of a hash made for long ones.
std::uint32_t RawStrings::hash_of(std::string_view raw, Kind kind) {
  const std::size_t size = raw.size();
  if (size > sizeof(Words)) {
    return std::uint32_t(XXH3_64bits(raw.data(), size) >> 32) + unsigned(kind);
  }
  const Words words = words_of(raw);
  // The mixer of SplitMix64.
  std::uint64_t mixed = words.first * 0x9e3779b97f4a7c15 ^ (words.last + size * 2 + unsigned(kind));
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  return std::uint32_t(((mixed ^ mixed >> 27) * 0x94d049bb133111eb) >> 32);
}

RawStrings::RawStrings() : slots_(first_string_slots) { clear(); }

void RawStrings::clear() {
  if (slots_.size() > 64 * first_string_slots) slots_.resize(first_string_slots);
  std::fill(slots_.begin(), slots_.end(), 0);
  recent_.fill({});
  entries_.clear();
  made_.clear();
  static constexpr char nothing[2 * margin] = {};
  intern({nothing + margin, 0}, Kind::text);
}

RawStrings::Interned RawStrings::look_up(std::string_view raw, Kind kind) {
  const std::uint32_t hash = hash_of(raw, kind);
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Entry& entry = entries_[slots_[slot] - 1];
    if (entry.hash == hash && entry.kind == kind && same_raw(entry.raw, raw)) {
      return {StringId(slots_[slot] - 1), false};
    }
  }
  entries_.push_back({raw, hash, kind, -1});
  slots_[slot] = std::uint32_t(entries_.size());
  if (entries_.size() * 2 > slots_.size()) grow();
  return {StringId(entries_.size() - 1), true};
}

void RawStrings::grow() {
  std::vector<std::uint32_t> bigger(slots_.size() * 2);
  const std::size_t mask = bigger.size() - 1;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::size_t slot = entries_[i].hash & mask;
    while (bigger[slot] != 0) slot = (slot + 1) & mask;
    bigger[slot] = std::uint32_t(i + 1);
  }
  slots_ = std::move(bigger);
}

void RawStrings::replace(StringId id, std::string text) {
  entries_[std::uint32_t(id)].replaced = std::int32_t(made_.size());
  made_.push_back(std::move(text));
}

RawStrings::Texts RawStrings::take_texts() {
  Texts result;
  result.made = std::move(made_);
  made_.clear();
  result.texts.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    std::string_view text = entry.raw;
    if (entry.replaced >= 0) {
      text = result.made[std::size_t(entry.replaced)];
    } else if (entry.kind == Kind::text && text.find('\\') != std::string_view::npos) {
      std::string& made = result.made.emplace_back();
      if (!unescape(text, made) && result.badly_escaped++ == 0) {
        result.first_badly_escaped = text.data();
      }
      text = made;
    }
    result.texts.push_back(text);
  }
  return result;
}

}  // namespace npuscope::chrome
