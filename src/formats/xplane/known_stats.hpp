// The stats that the last event of a name had, as bytes and as the arguments that they became. Most
// of the next one's are the same bytes, up to a number that counts on: they are compared, not read.
//
//   const std::size_t same = known.take(reader.rest(), event);    // from the first stat's length
//   on known.add(bytes, event);                                      // of a stat that was read,
//   its end
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "npuscope/profile/arguments.hpp"

namespace npuscope::xplane {

// Of the event that is being read.
struct EventStats {
  StringId module{};
  std::optional<std::uint64_t> program;
  std::vector<ArgumentKey> keys;
  std::vector<std::uint64_t> values;

  void clear() {
    module = StringId::empty;
    program.reset();
    keys.clear();
    values.clear();
  }
};

class KnownStats {
 public:
  // How many bytes are those of whole stats as before; what they say is the event's.
  std::size_t take(std::string_view stats, EventStats& event) {
    const std::size_t alike = bytes_alike(stats, bytes_);
    bytes_ = stats;
    while (!ends_.empty() && ends_.back().bytes > alike) ends_.pop_back();
    const End end = ends_.empty() ? End{} : ends_.back();
    keys_.resize(end.arguments);
    values_.resize(end.arguments);
    event.module = end.module;
    event.program = end.program;
    event.keys = keys_;
    event.values = values_;
    return end.bytes;
  }

  // Of the stats that take() was given, so many bytes have been read into the event.
  void add(std::size_t bytes, const EventStats& event) {
    keys_.insert(keys_.end(), event.keys.begin() + std::ptrdiff_t(keys_.size()), event.keys.end());
    values_.insert(values_.end(), event.values.begin() + std::ptrdiff_t(values_.size()),
                   event.values.end());
    ends_.push_back(
        {std::uint32_t(bytes), std::uint32_t(keys_.size()), event.module, event.program});
  }

 private:
  struct End {  // of a stat
    std::uint32_t bytes = 0, arguments = 0;
    StringId module{};
    std::optional<std::uint64_t> program;
  };

  static std::size_t bytes_alike(std::string_view a, std::string_view b) {
    const std::size_t size = std::min(a.size(), b.size());
    std::size_t at = 0;
    for (std::uint64_t of_a = 0, of_b = 0; at + sizeof of_a <= size; at += sizeof of_a) {
      std::memcpy(&of_a, a.data() + at, sizeof of_a);
      std::memcpy(&of_b, b.data() + at, sizeof of_b);
      if (of_a != of_b) return at + std::size_t(std::countr_zero(of_a ^ of_b)) / 8;
    }
    while (at < size && a[at] == b[at]) ++at;
    return at;
  }

  std::string_view bytes_;  // in the file
  std::vector<End> ends_;
  std::vector<ArgumentKey> keys_;
  std::vector<std::uint64_t> values_;
};

}  // namespace npuscope::xplane
