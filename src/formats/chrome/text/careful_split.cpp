#include "formats/chrome/text/careful_split.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "formats/chrome/text/json_checker.hpp"
#include "formats/chrome/text/separators.hpp"

namespace npuscope::chrome {
namespace {

// What looks like the next event may be an object in a list of this one's; of so many times the
// text before it can be looked at again, and all of it still be looked at a few times only.
constexpr std::size_t mendable_reach = 9;

// Where the event at the beginning of the text ends, if it can be mended.
std::optional<std::size_t> end_of_mendable(std::string_view text) {
  if (!text.starts_with('{')) return std::nullopt;
  JsonChecker lenient(true);
  const std::size_t taken = lenient.take(text);
  if (lenient.state() != JsonChecker::State::complete) return std::nullopt;
  return taken;
}

}  // namespace

CarefulSplit split_carefully(std::string_view text) {
  CarefulSplit split;
  JsonChecker checker;
  std::optional<std::uint64_t> next = 0;  // event behind a broken one; nothing when none follows
  for (;;) {
    split.end += count_separators(text.substr(split.end));
    if (split.end == text.size()) return split;
    if (text[split.end] == ']') {
      split.list_end = split.end;
      return split;
    }
    checker.restart();
    const std::size_t begin = split.end;
    const std::size_t taken = checker.take(text.substr(begin));
    if (checker.state() == JsonChecker::State::incomplete) checker.finish();
    if (checker.state() == JsonChecker::State::incomplete) return split;
    if (checker.state() == JsonChecker::State::complete) {
      split.end = begin + taken;
      split.pieces.push_back({begin, split.end, true});
      continue;
    }
    const std::size_t broken = begin + std::max<std::size_t>(taken, 1);
    if (next && *next < broken) {
      split.resync = {};
      next = split.resync.look(text.substr(begin), begin, broken);
    }
    split.end = next ? std::size_t(*next) : text.size();
    if (const auto length =
            end_of_mendable(text.substr(begin, mendable_reach * (split.end - begin)))) {
      split.end = begin + *length;
      split.pieces.push_back({begin, split.end, false, true});
      continue;
    }
    split.pieces.push_back({begin, split.end, false});
    split.lost = !next;
    if (split.lost) return split;
  }
}

}  // namespace npuscope::chrome
