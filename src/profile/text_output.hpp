// Text output for writers of large files: a buffer with room checked once for each piece, handed
// on to a sink when it is full.
#pragma once

#include <charconv>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>

#include "base/json_writer.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope {

class TextOutput {
 public:
  explicit TextOutput(const std::function<void(std::string_view)>& sink)
      : sink_(sink), buffer_(new char[capacity]) {}
  ~TextOutput() { flush(); }

  void add(std::string_view text) {
    if (text.empty()) return;  // it may be of nowhere
    if (text.size() > capacity - size_) {
      flush();
      if (text.size() > capacity) return sink_(text);
    }
    std::memcpy(buffer_.get() + size_, text.data(), text.size());
    size_ += text.size();
  }
  void add(char c) { add(std::string_view(&c, 1)); }

  template <class Number>
  void add_number(Number value) {
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    add(std::string_view(digits, std::size_t(end - digits)));
  }

  // Nanoseconds as microseconds with up to three decimals: 1500 is 1.5.
  void add_microseconds(std::int64_t nanoseconds) {
    auto size = std::uint64_t(nanoseconds);
    if (nanoseconds < 0) {
      add('-');
      size = 0 - size;
    }
    char digits[32];
    char* end = std::to_chars(digits, digits + sizeof digits, size / 1000).ptr;
    if (const auto rest = unsigned(size % 1000); rest != 0) {
      *end++ = '.';
      *end++ = char('0' + rest / 100);
      *end++ = char('0' + rest / 10 % 10);
      *end++ = char('0' + rest % 10);
      while (end[-1] == '0') --end;
    }
    add(std::string_view(digits, std::size_t(end - digits)));
  }

  void flush() {
    if (size_ > 0) sink_({buffer_.get(), size_});
    size_ = 0;
  }

 private:
  static constexpr std::size_t capacity = 1 << 20;
  const std::function<void(std::string_view)>& sink_;
  std::unique_ptr<char[]> buffer_;
  std::size_t size_ = 0;
};

// The strings of a profile as JSON. Nearly all need no escape, which is found out once for each.
class JsonStrings {
 public:
  explicit JsonStrings(const StringPool& strings)
      : strings_(strings), state_(strings.size(), State::unknown) {}

  // The inside of a string, without its quotes.
  void add(TextOutput& out, StringId id) {
    const std::string_view text = strings_[id];
    State& state = state_[std::uint32_t(id)];
    if (state == State::unknown) state = needs_no_json_escape(text) ? State::plain : State::escaped;
    if (state == State::plain) return out.add(text);
    escaped_.clear();
    append_json_escaped(escaped_, text);
    out.add(escaped_);
  }

 private:
  enum class State : std::uint8_t { unknown, plain, escaped };

  const StringPool& strings_;
  std::vector<State> state_;
  std::string escaped_;
};

}  // namespace npuscope
