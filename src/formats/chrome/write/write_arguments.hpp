// What an event says in "args": a span's own arguments with their types, and as args.npuscope what
// the data model knows beyond them.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/chrome/write/event_output.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::chrome {

// What a trace's own reader makes: everything that such a span is, its event says by itself.
constexpr bool is_plain(SpanKind kind) {
  return kind == SpanKind::slice || kind == SpanKind::async || kind == SpanKind::instant;
}

class SpanArguments {
 private:
  // The arguments of one shape.
  struct Form {
    const ArgumentKey* shape = nullptr;
    std::vector<std::string_view> keys;  // with what stands around them
    std::vector<std::uint32_t> texts;    // places of what is no number
    std::size_t most = 0;                // characters but for the texts
    std::size_t count() const { return keys.size(); }
  };

 public:
  SpanArguments(const Profile& profile, EventOutput& out);

  // What the event of a row has as arguments.
  struct OfRow {
    std::size_t row = 0;
    const Form* form = nullptr;  // none: no arguments of its own
    ArgumentRow values;
    std::string_view of_op;   // members_of_op()
    bool has_extras = false;  // what the data model knows beyond them
    bool has_scope = false;   // of a moment: not written again
    bool any() const { return has_extras || (form != nullptr && form->count() > has_scope); }
  };
  OfRow of(std::size_t row, std::string_view of_op) {
    OfRow arguments{row, nullptr, {}, of_op, has_extras(row), false};
    if (!has_arguments_) return arguments;
    const Arguments& all = profile_.spans.arguments;
    arguments.values = all.row(row);
    const std::uint32_t shape = arguments.values.shape();
    if (shape != 0) arguments.form = &form_of(shape);
    return arguments;
  }
  // So many characters that their members take at most; printed from `at` on, and where they end.
  std::size_t most(const OfRow& arguments);
  char* print(char* at, const OfRow& arguments);
  // What the data model knows of the op of a row; the same for all rows of one op and one kind.
  std::string members_of_op(std::size_t row) const;
  // The event of a row, which need not be a slice, with its arguments where it has some.
  void add(const TraceEvent& event, std::size_t row);
  // How far a moment reaches, which the format has beside the arguments.
  std::optional<Argument> scope_of(std::size_t row) const;
  std::uint64_t not_finite() const { return not_finite_; }

 private:
  bool has_extras(std::size_t row) const {
    return any_extra_ || !is_plain(profile_.spans.kind[row]);
  }
  const Form& form_of(std::uint32_t shape) {
    const Form& form = forms_[shape];
    return form.shape != nullptr ? form : make_form(shape);
  }
  const Form& make_form(std::uint32_t shape);
  std::string_view key_of(StringId name);
  // Each text is looked through once, not each time that it is printed.
  bool needs_escapes(StringId text) {
    const Escapes escapes = escapes_[std::uint32_t(text)];
    return escapes != Escapes::unknown ? escapes == Escapes::some : look_for_escapes(text);
  }
  bool look_for_escapes(StringId text);
  char* print_argument(char* at, ArgumentType type, std::uint64_t bits);
  char* print_number(char* at, double number);
  char* print_text_argument(char* at, StringId text);
  char* print_extras(char* at, const OfRow& arguments);

  const Profile& profile_;
  EventOutput& out_;
  std::optional<StringId> scope_key_;
  bool has_arguments_ = false;
  bool any_extra_ = false;  // beyond what is_plain() says
  std::size_t most_extra_ = 0;
  std::uint64_t not_finite_ = 0;
  std::vector<Form> forms_;  // by shape, made when one comes
  std::deque<std::string> keys_;
  std::vector<std::uint32_t> place_of_key_;  // by string: in keys_, from 1 on; 0: not made yet
  enum class Escapes : std::uint8_t { unknown, none, some };
  std::vector<Escapes> escapes_;  // by string: whether its text needs some
  std::string scratch_, text_;
};

}  // namespace npuscope::chrome
