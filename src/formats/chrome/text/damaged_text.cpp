#include "formats/chrome/text/damaged_text.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <iterator>

#include "formats/chrome/text/chunk.hpp"
#include "formats/chrome/text/json_checker.hpp"

namespace npuscope::chrome {
namespace {

constexpr std::uint64_t longest_gap = 4096;

}  // namespace

std::optional<std::uint64_t> Resync::look(std::string_view bytes, std::uint64_t offset,
                                          std::uint64_t earliest) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (state_ == State::nothing) i = bytes.find('}', i);
    if (i == std::string_view::npos) break;
    switch (bytes[i]) {
      case ' ':
      case '\n':
      case '\r':
      case '\t': break;
      case '}': state_ = State::closed; break;
      case ',': state_ = state_ == State::closed ? State::comma : State::nothing; break;
      case '{':
        state_ = state_ == State::comma ? State::brace : State::nothing;
        brace_ = offset + i;
        break;
      case '"':
        if (state_ == State::brace && brace_ >= earliest) {
          state_ = State::nothing;
          return brace_;
        }
        [[fallthrough]];
      default: state_ = State::nothing;
    }
  }
  // White space without end is no reason to keep it all.
  if (state_ == State::brace && offset + bytes.size() - brace_ > longest_gap) {
    state_ = State::nothing;
  }
  return std::nullopt;
}

std::uint64_t Resync::step_back(std::uint64_t end) {
  if (state_ != State::brace) return end;
  state_ = State::comma;
  return brace_;
}

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

namespace {

bool ends_container(std::string_view behind_comma) {
  while (!behind_comma.empty() && is_json_space(behind_comma[0])) behind_comma.remove_prefix(1);
  return behind_comma.starts_with('}') || behind_comma.starts_with(']');
}

}  // namespace

std::string mended(std::string_view value) {
  std::string out;
  bool in_text = false, escaped = false;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const char byte = value[i];
    if (in_text && static_cast<unsigned char>(byte) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", unsigned(byte));
    } else if (in_text || byte != ',' || !ends_container(value.substr(i + 1))) {
      out += byte;
    }
    if (byte == '"' && !escaped) in_text = !in_text;
    escaped = in_text && byte == '\\' && !escaped;
  }
  return out;
}

}  // namespace npuscope::chrome
