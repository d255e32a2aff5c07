// Literals in the notation of Python, as QNN's compiler writes its schematic: dictionaries, lists,
// tuples, texts, numbers, and calls of names ("interval_set(1,[0x1C])"). They are read, never run.
//
//   Literals text(file);
//   while (const auto name = text.next_assignment()) {
//     if (*name == "runlist2") text.each_element([&] { ids.push_back(text.whole().value_or(0)); });
//   }
//
// Where a literal breaks off or is of another form, its walk ends and broken() says where; the next
// assignment is found all the same. Nothing recurses but the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace npuscope::qnn {

class Literals {
 public:
  explicit Literals(std::string_view text)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  // The name of the next assignment that begins a line; the walk then stands at its value. What is
  // left of the value before is passed over.
  std::optional<std::string_view> next_assignment();

  // Of a dictionary: `body` stands at each key, calls key() or text_key() of it first, and then
  // takes or skips the value.
  template <class Body>
  void each_member(Body&& body) {
    walk('{', '}', body);
  }
  // Of a list or a tuple.
  template <class Body>
  void each_element(Body&& body) {
    const bool is_tuple = next() == '(';
    walk(is_tuple ? '(' : '[', is_tuple ? ')' : ']', body);
  }
  // Of a call: its name; `body` takes the name of each argument, empty for one without.
  template <class Body>
  std::optional<std::string_view> call(Body&& body) {
    const std::string_view name = word();
    if (name.empty() || next() != '(') return fail();
    walk('(', ')', [&] { body(argument_name()); });
    return name;
  }

  std::optional<std::uint64_t> number_key();   // 0x31:
  std::optional<std::string_view> text_key();  // 'operation':
  std::optional<std::uint64_t> whole();        // 0x31 and 49; nothing for other values, skipped
  std::optional<std::int64_t> signed_whole();  // -1 too
  std::optional<std::string_view> text();      // between quotes; nothing for other values, skipped
  void skip();                                 // a value of any form

  // The first character of what comes next, after blanks and comments; 0 at the end.
  char next() {
    const bool is_there = at_ != end_ && *at_ > ' ' && *at_ != '#';
    return is_there ? *at_ : next_after_blanks();
  }
  std::size_t offset() const { return std::size_t(at_ - begin_); }
  std::optional<std::size_t> broken() const { return broken_; }  // where a literal broke first

 private:
  template <class Body>
  void walk(char open, char close, Body&& body) {
    if (next() != open) return skip();
    ++at_;
    for (;;) {
      char c = failed_ ? '\0' : next();
      if (c == 0) return break_off();
      if (c == close) break;
      const char* const before = at_;
      body();
      c = failed_ ? '\0' : next();
      if (c == 0 || at_ == before) return break_off();
      if (c == ',') ++at_;
    }
    ++at_;
  }

  char next_after_blanks();
  void to_line_end(const char* from);
  void skip_brackets();
  std::string_view word();
  std::string_view take_word();
  std::string_view argument_name();
  bool take_colon();
  void break_off();
  std::nullopt_t fail() {
    break_off();
    return std::nullopt;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  bool failed_ = false;  // in this assignment
  std::optional<std::size_t> broken_;
};

}  // namespace npuscope::qnn
