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
// Out is a std::string, or has add(std::string_view). Keys and texts are escaped. Numbers that JSON
// does not have, NaN and infinities, become null.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace npuscope {

constexpr bool needs_no_json_escape(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; });
}

// What stands around the elements of an object or an array, of which it holds at least one.
struct JsonLayout {
  std::string_view first = {}, between = ",", last = {}, colon = ":";
  std::size_t indent = 0;   // blanks a level, after each of the three
  bool has_points = false;  // 3.0, not 3, where a double is whole

  static constexpr JsonLayout spaced() { return {.between = ", "}; }
  static constexpr JsonLayout lines() { return {.between = ",\n"}; }
  static constexpr JsonLayout indented(std::size_t blanks) {
    return {.first = "\n", .between = ",\n", .last = "\n", .colon = ": ", .indent = blanks};
  }
};

template <class Out>
class JsonWriter {
 public:
  // `layout` is that of the objects and arrays which have none of their own.
  explicit JsonWriter(Out& out, const JsonLayout& layout = {}) : out_(out), layout_(layout) {}

  void begin_object() { open('{', layout_); }
  void end_object() { close('}'); }
  void begin_array() { begin_array(layout_); }
  void begin_array(const JsonLayout& layout) { open('[', layout); }
  void end_array() { close(']'); }

  void key(std::string_view name) {
    separate();
    quote(name);
    add(levels_.back().layout.colon);
    is_after_key_ = true;
  }
  void value(std::string_view text) {
    separate();
    quote(text);
  }
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool yes) { put(yes ? "true" : "false"); }
  void value(std::integral auto number) {
    const fmt::format_int digits(number);
    put({digits.data(), digits.size()});
  }
  // The shortest text that reads back as the same number.
  void value(std::floating_point auto number) {
    if (!std::isfinite(number)) return put("null");
    std::string text = fmt::format("{}", number);
    if (layout_.has_points && text.find_first_of(".e") == text.npos) text += ".0";
    put(text);
  }

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
  // write(element) writes one value.
  template <class Elements, class Write>
  void array(const Elements& elements, Write write) {
    array(elements, write, layout_);
  }
  template <class Elements, class Write>
  void array(const Elements& elements, Write write, const JsonLayout& layout) {
    begin_array(layout);
    for (const auto& element : elements) write(element);
    end_array();
  }

 private:
  struct Level {
    JsonLayout layout;
    bool any = false;  // element
  };

  void add(std::string_view text) {
    if constexpr (std::same_as<Out, std::string>) {
      out_ += text;
    } else {
      out_.add(text);
    }
  }
  void put(std::string_view text) {
    separate();
    add(text);
  }
  void quote(std::string_view text) {
    add("\"");
    if (needs_no_json_escape(text)) {
      add(text);
    } else {
      scratch_.clear();
      append_json_escaped(scratch_, text);
      add(scratch_);
    }
    add("\"");
  }
  void indent(std::size_t blanks) {
    constexpr std::string_view some = "                                ";
    for (; blanks > 0; blanks -= std::min(blanks, some.size())) add(some.substr(0, blanks));
  }
  void separate() {
    if (is_after_key_ || levels_.empty()) {
      is_after_key_ = false;
      return;
    }
    Level& level = levels_.back();
    add(level.any ? level.layout.between : level.layout.first);
    indent(level.layout.indent * levels_.size());
    level.any = true;
  }
  void open(char bracket, const JsonLayout& layout) {
    put({&bracket, 1});
    levels_.push_back({layout});
  }
  void close(char bracket) {
    const Level level = levels_.back();
    levels_.pop_back();
    if (level.any) {
      add(level.layout.last);
      indent(level.layout.indent * levels_.size());
    }
    add({&bracket, 1});
  }

  Out& out_;
  const JsonLayout layout_;
  std::vector<Level> levels_;
  std::string scratch_;
  bool is_after_key_ = false;
};

}  // namespace npuscope
