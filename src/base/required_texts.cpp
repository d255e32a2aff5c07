#include "base/required_texts.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/text.hpp"

namespace npuscope {
namespace {

// One of these has to be there; empty: nothing is known.
using AnyOf = std::vector<std::string>;

char folded(char c) { return c >= 'A' && c <= 'Z' ? char(c + ('a' - 'A')) : c; }
std::uint64_t bit_of(char c) { return std::uint64_t{1} << (static_cast<unsigned char>(c) & 63); }

std::size_t shortest(const AnyOf& texts) {
  std::size_t length = texts.empty() ? 0 : texts.front().size();
  for (const std::string& each : texts) length = std::min(length, each.size());
  return length;
}

// Knows less of RE2's syntax than RE2: of what it does not know it says nothing.
class Reader {
 public:
  explicit Reader(std::string_view pattern) : rest_(pattern) {}

  AnyOf read() {
    AnyOf texts = alternatives();
    return is_known_ && rest_.empty() ? texts : AnyOf();
  }

 private:
  AnyOf alternatives() {
    AnyOf all;
    bool has_each = true;
    do {
      AnyOf one = sequence();
      has_each = has_each && !one.empty();
      std::move(one.begin(), one.end(), std::back_inserter(all));
    } while (take('|'));
    return has_each ? all : AnyOf();
  }

  AnyOf sequence() {
    AnyOf best;
    std::string run;  // characters that follow one another
    const auto offer = [&](AnyOf texts) {
      if (shortest(texts) > shortest(best)) best = std::move(texts);
    };
    const auto end_run = [&] { offer(run.empty() ? AnyOf() : AnyOf{std::exchange(run, {})}); };
    while (is_known_ && !rest_.empty() && rest_.front() != '|' && rest_.front() != ')') {
      AnyOf group;
      const std::optional<char> literal = atom(group);
      const auto least = repeated();
      if (!literal) {
        end_run();
        if (least != 0) offer(std::move(group));
        continue;
      }
      if (least != 0) run += *literal;
      if (least) end_run();
    }
    end_run();
    return best;
  }

  // A character, or what is none: of a group what it requires.
  std::optional<char> atom(AnyOf& group) {
    const char c = next();
    switch (c) {
      case '^':
      case '$':
      case '.': return std::nullopt;
      case '\\': return escaped();
      case '[': return one_of();
      case '(':
        if (take('?') && !flags()) return std::nullopt;
        group = alternatives();
        is_known_ = take(')') && is_known_;
        return std::nullopt;
      default: is_known_ = is_known_ && static_cast<unsigned char>(c) < 0x80; return folded(c);
    }
  }

  std::optional<char> escaped() {
    constexpr std::string_view classes_and_ends = "dDwWsSbBAz";
    const char c = next();
    if (classes_and_ends.find(c) != std::string_view::npos) return std::nullopt;
    is_known_ = is_known_ && static_cast<unsigned char>(c) < 0x80 && !is_letter(c) && !is_digit(c);
    return c;
  }

  // A class; of two cases of a letter that letter.
  std::optional<char> one_of() {
    if (rest_.size() > 2 && rest_[2] == ']' && is_letter(rest_[0]) && is_letter(rest_[1]) &&
        folded(rest_[0]) == folded(rest_[1])) {
      const char letter = folded(rest_[0]);
      rest_.remove_prefix(3);
      return letter;
    }
    take('^');
    for (bool is_first = true; is_known_; is_first = false) {
      const char c = next();
      if (c == ']' && !is_first) break;
      if (c == '\\') next();
      is_known_ = is_known_ && c != '[';
    }
    return std::nullopt;
  }

  // After "(?": whether a group follows, or the flags alone.
  bool flags() {
    constexpr std::string_view known = "imsU-";
    while (is_known_) {
      const char c = next();
      if (c == ':' || c == ')') return c == ':';
      is_known_ = is_known_ && known.find(c) != std::string_view::npos;
    }
    return false;
  }

  // How often what stands before must be there at least, where that is said.
  std::optional<int> repeated() {
    std::optional<int> least;
    if (take('*') || take('?')) {
      least = 0;
    } else if (take('+')) {
      least = 1;
    } else if (take('{')) {
      is_known_ = false;
    }
    take('?');
    return least;
  }

  char next() {
    is_known_ = is_known_ && !rest_.empty();
    const char c = is_known_ ? rest_.front() : '\0';
    if (is_known_) rest_.remove_prefix(1);
    return c;
  }

  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view rest_;
  bool is_known_ = true;
};

}  // namespace

LettersOf::LettersOf(std::string_view text) : text(text) {
  unsigned char any = 0;
  for (const char c : text) {
    any |= static_cast<unsigned char>(c);
    bits |= bit_of(folded(c));
  }
  is_ascii = any < 0x80;
}

RequiredTexts::RequiredTexts(std::string_view pattern) {
  AnyOf texts = Reader(pattern).read();
  std::sort(texts.begin(), texts.end(),
            [](const auto& a, const auto& b) { return a.size() < b.size(); });
  for (std::string& each : texts) {
    const bool is_new = std::none_of(texts_.begin(), texts_.end(), [&](const std::string& shorter) {
      return each.find(shorter) != std::string::npos;
    });
    if (!is_new) continue;
    std::uint64_t bits = 0;
    for (const char c : each) bits |= bit_of(c);
    bits_.push_back(bits);
    texts_.push_back(std::move(each));
  }
}

bool RequiredTexts::may_be_in(const LettersOf& letters) const {
  if (texts_.empty() || !letters.is_ascii) return true;
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    if ((bits_[i] & ~letters.bits) != 0) continue;
    const auto found =
        std::search(letters.text.begin(), letters.text.end(), texts_[i].begin(), texts_[i].end(),
                    [](char in_text, char wanted) { return folded(in_text) == wanted; });
    if (found != letters.text.end()) return true;
  }
  return false;
}

}  // namespace npuscope
