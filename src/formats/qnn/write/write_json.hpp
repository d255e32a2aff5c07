// Pretty-printed JSON as QHAS has it: four spaces a level, one value a line.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "formats/qnn/write/write_text.hpp"

namespace npuscope::qnn::optrace {

class JsonWriter {
 public:
  explicit JsonWriter(TextWriter& out) : out_(out) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(std::string_view name) {
    separate();
    out_.print("\"{}\": ", name);
    after_key_ = true;
  }
  void value(std::string_view text) { put("\"{}\"", escaped(text)); }
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool yes) { put("{}", yes); }
  void value(std::uint64_t number) { put("{}", number); }
  void value(std::int64_t number) { put("{}", number); }
  void value(std::uint32_t number) { put("{}", number); }
  void value(std::int32_t number) { put("{}", number); }
  // The shortest text that reads back as the same number; "3.0", never "3".
  void value(double number) {
    std::string text = fmt::format("{}", number);
    if (text.find_first_of(".en") == std::string::npos) text += ".0";
    put("{}", text);
  }
  template <class Value>
  void member(std::string_view name, const Value& it) {
    key(name);
    value(it);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> text, Args&&... args) {
    separate();
    out_.print(text, std::forward<Args>(args)...);
  }
  void separate() {
    if (after_key_) {
      after_key_ = false;
      return;
    }
    if (levels_.empty()) return;
    out_.print("{}\n{:{}}", levels_.back() ? "," : "", "", 4 * levels_.size());
    levels_.back() = true;
  }
  void open(char bracket) {
    separate();
    out_.print("{}", bracket);
    levels_.push_back(false);
  }
  void close(char bracket) {
    const bool any = levels_.back();
    levels_.pop_back();
    if (any) out_.print("\n{:{}}", "", 4 * levels_.size());
    out_.print("{}", bracket);
  }

  TextWriter& out_;
  std::vector<bool> levels_;  // of each open bracket: whether it holds anything yet
  bool after_key_ = false;
};

}  // namespace npuscope::qnn::optrace
