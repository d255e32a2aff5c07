#include "formats/chrome/text/careful_split.hpp"

#include <algorithm>

#include "formats/chrome/text/json_checker.hpp"
#include "formats/chrome/text/separators.hpp"

namespace npuscope::chrome {

CarefulSplit split_carefully(std::string_view text) {
  CarefulSplit split;
  JsonChecker checker;
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
    split.resync = {};
    const auto next =
        split.resync.look(text.substr(begin), begin, begin + std::max<std::size_t>(taken, 1));
    split.end = next ? std::size_t(*next) : text.size();
    split.pieces.push_back({begin, split.end, false});
    split.lost = !next;
    if (split.lost) return split;
  }
}

}  // namespace npuscope::chrome
