// Mutants of JSON: values and members as spans of the text, replaced there, so that numbers,
// escapes and white space stay as they were written.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "fuzz/mutants.hpp"

namespace npuscope::fuzz {

namespace {

struct Span {
  std::size_t begin = 0, end = 0;
  std::string_view of(std::string_view text) const { return text.substr(begin, end - begin); }
};

// What stands between two commas of an object or an array, and the value in it.
struct Item {
  Span whole, value;
  std::size_t container = 0;  // outermost: 0
};

// Where every value stands, or nothing where the text is not JSON.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::optional<std::vector<Item>> items() {
    skip_space();
    if (at_ == text_.size() || (text_[at_] != '{' && text_[at_] != '[')) return {};
    if (!value(0)) return {};
    skip_space();
    if (at_ != text_.size()) return {};
    return std::move(items_);
  }

 private:
  static constexpr int max_depth = 200;

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  bool string() {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\')
        ++at_;
      else if (text_[at_] == '"')
        return ++at_, true;
    }
    return false;
  }

  bool value(int depth) {
    skip_space();
    const char first = peek();
    if (first == '"') return string();
    if (first == '{' || first == '[') return depth < max_depth && container(first == '{', depth);
    const std::size_t begin = at_;
    at_ = std::min(text_.find_first_of(" \t\r\n,:]}", at_), text_.size());
    return at_ > begin;
  }

  bool container(bool is_object, int depth) {
    const std::size_t id = ++containers_;
    const char end = is_object ? '}' : ']';
    ++at_;
    skip_space();
    if (peek() == end) return ++at_, true;
    while (true) {
      skip_space();
      Item item{{at_, 0}, {}, id};
      if (is_object) {
        if (peek() != '"' || !string()) return false;
        skip_space();
        if (peek() != ':') return false;
        ++at_;
        skip_space();
      }
      item.value.begin = at_;
      if (!value(depth + 1)) return false;
      item.value.end = item.whole.end = at_;
      items_.push_back(item);
      skip_space();
      if (peek() == end) return ++at_, true;
      if (peek() != ',') return false;
      ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0, containers_ = 0;
  std::vector<Item> items_;
};

constexpr std::array<std::string_view, 22> values{"0",           "-1",
                                                  "1e308",       "-1e-308",
                                                  "0.1",         "9223372036854775807",
                                                  "null",        "true",
                                                  "[]",          "{}",
                                                  "\"\"",        "-9223372036854775808",
                                                  "false",       "3.",
                                                  "1E400",       "[[]]",
                                                  "\"B\"",       "18446744073709551615",
                                                  "4294967296",  "2147483648",
                                                  "\"\\ud800\"", "\"0x7fffffffffffffff\""};

}  // namespace

std::string mutant_of_json(std::string_view bytes, std::string_view other,
                           std::mt19937_64& random) {
  const auto items = Scanner(bytes).items();
  if (!items || items->empty()) return {};
  const auto pick = [&](const auto& list) { return list[std::size_t(random() % list.size())]; };
  const Item item = pick(*items), second = pick(*items);
  std::string made(bytes);
  const auto put = [&](Span at, std::string_view text) {
    made.replace(at.begin, at.end - at.begin, text);
  };
  switch (random() % 8) {
    case 0: put(item.value, pick(values)); break;
    case 1: {
      const auto foreign = Scanner(other).items();
      put(item.value, foreign && !foreign->empty() ? pick(*foreign).value.of(other) : pick(values));
      break;
    }
    case 2: put(item.value, second.value.of(bytes)); break;
    case 3: {  // left out, with a comma of its own
      Span gone = item.whole;
      const std::size_t comma = bytes.find_first_not_of(" \t\r\n", gone.end);
      if (comma != bytes.npos && bytes[comma] == ',')
        gone.end = comma + 1;
      else if (const std::size_t before = bytes.find_last_not_of(" \t\r\n", gone.begin - 1);
               before != bytes.npos && bytes[before] == ',')
        gone.begin = before;
      put(gone, "");
      break;
    }
    case 4: made.insert(item.whole.end, "," + std::string(item.whole.of(bytes))); break;
    case 5: put(item.value, "[" + std::string(item.value.of(bytes)) + "]"); break;
    case 6: put(item.value, "{\"args\":" + std::string(item.value.of(bytes)) + "}"); break;
    default: {  // bytes of one value
      const std::string_view text = item.value.of(bytes);
      put(item.value, mutant_of_bytes(text, second.value.of(bytes), random));
    }
  }
  return made;
}

}  // namespace npuscope::fuzz
