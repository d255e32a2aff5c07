// JSON as text, written from front to end, without a tree in between.
//
//   std::string out;
//   JsonWriter json(out);                       {"name":"conv","dims":[1, 8]}
//   json.begin_object();
//   json.member("name", "conv");
//   json.key("dims");
//   json.array(dims, [&](int dim) { json.value(dim); }, JsonLayout::spaced());
//   json.end_object();
//
// Out is a std::string or a TextOutput. Keys and texts are escaped.
// Numbers that JSON does not have, NaN and infinities, become null.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "base/text_output.hpp"

namespace npuscope {

// Eight bytes at a time, and of a literal when it is compiled: nearly every text of a large file is
// asked.
[[gnu::always_inline]] inline bool needs_no_json_escape(std::string_view text) {
  constexpr std::uint64_t each = 0x0101'0101'0101'0101;
  constexpr std::size_t step = sizeof each;
  const auto any_below = [](std::uint64_t bytes, std::uint64_t limit) {
    return (bytes - each * limit) & ~bytes & each * 0x80;
  };
  std::uint64_t special = 0;
  const auto look_at = [&](std::uint64_t bytes) {
    special |= any_below(bytes, ' ') | any_below(bytes ^ each * '"', 1) |
               any_below(bytes ^ each * '\\', 1) | (bytes & each * 0x80);
  };
  const auto load = [](const char* from, auto word) {
    std::memcpy(&word, from, sizeof word);
    return std::uint64_t(word);
  };
  const std::size_t size = text.size();
  const char* const begin = text.data();
  const char* const end = begin + size;
  if (size >= step) {
    for (const char* at = begin; at + step < end; at += step) look_at(load(at, each));
    look_at(load(end - step, each));
  } else if (constexpr std::uint32_t half = 0; size >= sizeof half) {
    look_at(load(begin, half) << 32 | load(end - sizeof half, half));
  } else if (size > 0) {
    constexpr std::uint64_t blanks = each * ' ' << 24;
    const auto byte = [](char c) { return std::uint64_t(std::uint8_t(c)); };
    look_at(blanks | byte(begin[0]) << 16 | byte(begin[size / 2]) << 8 | byte(end[-1]));
  }
  return (special & each * 0x80) == 0;
}

enum class JsonNumbers : std::uint8_t {
  plain,    // 100000
  points,   // 100000.0: a double that is whole says that it is one
  shortest  // 1e+05, as std::to_chars
};

// What stands around the elements of an object or an array.
struct JsonLayout {
  std::string_view first = {}, between = ",", last = {}, colon = ":";
  std::size_t indent = 0;                    // blanks a level, after each of the first three
  JsonNumbers numbers = JsonNumbers::plain;  // in everything that a writer writes
  // Instead prints doubles, to `first`, and returns the end.
  char* (*print_double)(char* first, const char* last, double number) = nullptr;

  static constexpr JsonLayout spaced() { return {.between = ", "}; }
  static constexpr JsonLayout wide() { return {.between = ", ", .colon = ": "}; }
  static constexpr JsonLayout lines() { return {.between = ",\n"}; }
  static constexpr JsonLayout indented(std::size_t blanks) {
    return {.first = "\n", .between = ",\n", .last = "\n", .colon = ": ", .indent = blanks};
  }
};

// A key made beforehand, for objects of one layout, without an indent, that repeat it.
class JsonKey {
 public:
  JsonKey(std::string_view name, const JsonLayout& layout)
      : text_(layout.between), before_(text_.size()) {
    text_ += '"';
    append_json_escaped(text_, name);
    text_ += '"';
    text_ += layout.colon;
  }
  std::string_view as_first() const { return std::string_view(text_).substr(before_); }
  std::string_view as_next() const { return text_; }

 private:
  std::string text_;
  std::size_t before_;
};

template <class Out>
class JsonWriter {
 public:
  // `layout` is that of the objects and arrays which have none of their own.
  explicit JsonWriter(Out& out, const JsonLayout& layout = {}) : out_(out), layout_(layout) {}

  void begin_object() { begin_object(layout_); }
  // `layout` stays until the end of the object or array.
  void begin_object(const JsonLayout& layout) { open('{', layout); }
  void begin_object(JsonLayout&&) = delete;
  void end_object() { close('}'); }
  void begin_array() { begin_array(layout_); }
  void begin_array(const JsonLayout& layout) { open('[', layout); }
  void begin_array(JsonLayout&&) = delete;
  void end_array() { close(']'); }

  void key(std::string_view name) {
    separate();
    quote(name);
    add_short(levels_.back().layout->colon);
    is_after_key_ = true;
  }
  void key(const JsonKey& made) {
    Level& level = levels_.back();
    if (!level.any) add(level.layout->first);
    add(level.any ? made.as_next() : made.as_first());
    level.any = is_after_key_ = true;
  }
  void value(std::string_view text) {
    separate();
    quote(text);
  }
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool yes) { put(yes ? "true" : "false"); }
  void value(std::integral auto number) {
    separate();
    add_integer(number);
  }
  // The shortest text that reads back as the same number.
  void value(std::floating_point auto number) {
    put_number(number, layout_.numbers == JsonNumbers::points);
  }
  // 2.0, not 2, whatever the layout says.
  void value_with_point(std::floating_point auto number) { put_number(number, true); }
  template <class Value>
  void value(const std::optional<Value>& known) {  // null: not known
    known ? value(*known) : null();
  }
  template <class Value>
  void value(const std::vector<Value>& values) {
    array(values, [&](const Value& each) { value(each); });
  }
  // Texts that need no escape: the digits of a number, and others.
  void quoted(std::integral auto number) {
    separate();
    add('"');
    add_integer(number);
    add('"');
  }
  void quoted(std::string_view plain) {
    separate();
    add_in_quotes(plain);
  }
  void null() { put("null"); }
  // JSON as it stands.
  void raw(std::string_view json) { put(json); }

  template <class Value>
  void member(std::string_view name, const Value& it) {
    key(name);
    value(it);
  }
  template <class Fill>
  void object(Fill fill) {
    begin_object();
    fill();
    end_object();
  }
  template <class Fill>
  void object(std::string_view name, Fill fill) {
    key(name);
    object(fill);
  }
  // write(element) writes one value.
  template <class Elements, class Write>
  void array(const Elements& elements, Write write) {
    array(elements, write, layout_);
  }
  template <class Elements, class Write>
  void array(std::string_view name, const Elements& elements, Write write) {
    key(name);
    array(elements, write);
  }
  // fill(element) writes the members of an object.
  template <class Elements, class Fill>
  void objects(std::string_view name, const Elements& elements, Fill fill) {
    array(name, elements, [&](const auto& element) {
      begin_object();
      fill(element);
      end_object();
    });
  }
  template <class Elements, class Write>
  void array(const Elements& elements, Write write, const JsonLayout& layout) {
    begin_array(layout);
    for (const auto& element : elements) write(element);
    end_array();
  }

 private:
  struct Level {
    const JsonLayout* layout = nullptr;
    bool any = false;  // element
  };

  void add(auto text) {  // or a character
    if constexpr (std::same_as<Out, std::string>) {
      out_ += text;
    } else {
      out_.add(text);
    }
  }
  void add_integer(std::integral auto number) {
    if constexpr (std::same_as<Out, std::string>) {
      const fmt::format_int digits(number);
      out_.append(digits.data(), digits.size());
    } else {
      out_.add_number(number);
    }
  }
  void put_number(std::floating_point auto number, bool has_point) {
    if (!std::isfinite(number)) return null();
    if constexpr (!std::same_as<Out, std::string>) {
      if (layout_.numbers == JsonNumbers::shortest && !has_point) {
        separate();
        return out_.add_number(number);
      }
    }
    char digits[40];
    char* end = layout_.print_double != nullptr
                    ? layout_.print_double(digits, digits + sizeof digits, double(number))
                : layout_.numbers == JsonNumbers::shortest
                    ? std::to_chars(digits, digits + sizeof digits, number).ptr
                    : fmt::format_to(digits, "{}", number);
    const auto text = [&] { return std::string_view(digits, std::size_t(end - digits)); };
    if (has_point && text().find_first_of(".e") == text().npos) end = std::copy_n(".0", 2, end);
    put(text());
  }
  void add_short(std::string_view text) { text.size() == 1 ? add(text[0]) : add(text); }
  void put(std::string_view text) {
    separate();
    add(text);
  }
  [[gnu::always_inline]] void quote(std::string_view text) {
    if (!needs_no_json_escape(text)) return quote_escaped(text);
    add_in_quotes(text);
  }
  void add_in_quotes(std::string_view plain) {
    if constexpr (std::same_as<Out, std::string>) {
      out_ += '"';
      out_ += plain;
      out_ += '"';
    } else {
      out_.add_made(plain.size() + 2, [&](char* at) {
        *at = '"';
        at = std::copy_n(plain.data(), plain.size(), at + 1);
        *at = '"';
        return at + 1;
      });
    }
  }
  [[gnu::noinline]] void quote_escaped(std::string_view text) {
    scratch_.assign(1, '"');
    append_json_escaped(scratch_, text);
    scratch_ += '"';
    add(std::string_view(scratch_));
  }
  [[gnu::noinline]] void indent(std::size_t blanks) {
    constexpr std::string_view some = "                                ";
    for (; blanks > 0; blanks -= std::min(blanks, some.size())) add(some.substr(0, blanks));
  }
  void separate() {
    if (is_after_key_ || levels_.empty()) {
      is_after_key_ = false;
      return;
    }
    Level& level = levels_.back();
    add_short(level.any ? level.layout->between : level.layout->first);
    if (level.layout->indent > 0) indent(level.layout->indent * levels_.size());
    level.any = true;
  }
  void open(char bracket, const JsonLayout& layout) {
    separate();
    add(bracket);
    levels_.emplace_back().layout = &layout;
  }
  void close(char bracket) {
    const Level& level = levels_.back();
    const JsonLayout& layout = *level.layout;
    if (level.any) {
      add(layout.last);
      if (layout.indent > 0) indent(layout.indent * (levels_.size() - 1));
    }
    levels_.pop_back();
    add(bracket);
  }

  Out& out_;
  const JsonLayout layout_;
  std::vector<Level> levels_;
  std::string scratch_;
  bool is_after_key_ = false;
};

}  // namespace npuscope
