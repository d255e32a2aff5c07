// Text output for writers of large files: a buffer with room checked once for each piece, handed
// on to a sink when it is full, and at the end. Without a sink it holds all.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <string_view>

#include "base/print_text.hpp"

namespace npuscope {

class TextOutput {
 public:
  TextOutput() = default;
  explicit TextOutput(const std::function<void(std::string_view)>& sink) : sink_(&sink) {}
  ~TextOutput() { flush(); }
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;

  void add(std::string_view text) {
    if (text.empty()) return;  // it may be of nowhere
    std::memcpy(room(text.size()), text.data(), text.size());
    size_ += text.size();
  }
  void add(char c) {
    *room(1) = c;
    size_ += 1;
  }
  // At most `max` characters: fill(where they begin) returns where they end.
  template <class Fill>
  void add_made(std::size_t max, Fill fill) {
    char* const begin = room(max);
    size_ += std::size_t(fill(begin) - begin);
  }
  void add_number(std::integral auto value) {
    add_made(max_number_size, [&](char* begin) { return print_integer(begin, value); });
  }
  void add_number(double value) {
    add_made(max_number_size, [&](char* begin) { return print_shortest(begin, value); });
  }
  template <class... Args>
  void print(fmt::format_string<Args...> text, Args&&... args) {
    fmt::memory_buffer printed;
    fmt::format_to(std::back_inserter(printed), text, std::forward<Args>(args)...);
    add({printed.data(), printed.size()});
  }

  // A long text, which the sink gets as it is.
  void hand_on(std::string_view text) {
    if (sink_ == nullptr) return add(text);
    flush();
    if (!text.empty()) (*sink_)(text);
  }
  void flush() {
    if (sink_ == nullptr) return;
    if (size_ > 0) (*sink_)(text());
    size_ = 0;
  }
  // What no sink has got.
  std::string_view text() const { return {buffer_.get(), size_}; }
  void clear() { size_ = 0; }

 private:
  static constexpr std::size_t piece = 1 << 20;

  char* room(std::size_t size) {
    if (size > capacity_ - size_) make_room(size);
    return buffer_.get() + size_;
  }
  [[gnu::noinline]] void make_room(std::size_t size) {
    flush();
    if (size <= capacity_ - size_) return;
    capacity_ = std::max(size_ + size, sink_ != nullptr ? piece : 2 * capacity_);
    std::unique_ptr<char[]> larger(new char[capacity_]);
    if (size_ > 0) std::memcpy(larger.get(), buffer_.get(), size_);
    buffer_ = std::move(larger);
  }

  const std::function<void(std::string_view)>* sink_ = nullptr;
  std::unique_ptr<char[]> buffer_;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace npuscope
