// Follows one JSON value strictly, byte by byte, across any number of pieces: where it ends, or
// where it breaks. Slow beside simdjson, but it needs no end of the text, says the exact place, and
// never looks at a byte twice: for damaged files, for values that grow beyond all measure and for
// the text of nested values. NaN, Infinity and -Infinity, which Python writes, pass. A lenient one
// also lets pass what `mended` makes JSON of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope::chrome {

class JsonChecker {
 public:
  enum class State : std::uint8_t { incomplete, complete, broken };

  explicit JsonChecker(bool lenient = false) : lenient_(lenient) {}

  void restart();
  // Takes bytes as long as the value lasts and returns how many it took: all while it is
  // incomplete, those up to its end when complete, those before the bad byte when broken.
  std::size_t take(std::string_view bytes);
  // No more bytes come: a number may be complete now.
  void finish();

  State state() const { return state_; }
  // NaN, Infinity, or a number that may lie beyond a double: one of 200 digits, or with an exponent
  // of three.
  bool met_unusual_number() const { return met_unusual_number_; }

 private:
  enum class Expect : std::uint8_t {
    value,
    value_or_end,  // of an array
    key,
    key_or_end,
    colon,
    comma_or_end,
    text,
    escape,
    hexadecimal,
    literal,
    minus,
    zero,
    whole,
    point,
    fraction,
    exponent,
    exponent_sign,
    exponent_digits,
  };

  bool step(char byte);
  bool in_escape(char byte);
  bool begin_value(char byte);
  bool begin_literal(std::string_view text);
  bool open(char byte);
  bool close(char byte);
  bool end_value();
  bool in_number(char byte);
  bool number_may_end() const;
  std::size_t skip_text(std::string_view bytes, std::size_t at) const;

  bool lenient_;
  State state_ = State::incomplete;
  Expect expect_ = Expect::value;
  bool in_key_ = false;
  bool met_unusual_number_ = false;
  std::size_t number_bytes_ = 0, exponent_digits_ = 0;  // of the number at hand
  std::uint8_t hexadecimal_left_ = 0;
  std::string_view literal_left_;
  std::vector<bool> is_object_;  // of the open containers
};

// The inside of a JSON string as the text it stands for.

// Appends the text in UTF-8. False when a half of a surrogate pair or a broken escape had to be
// replaced by U+FFFD.
bool unescape(std::string_view raw, std::string& out);

}  // namespace npuscope::chrome
