// What an event says in "args": a span's own arguments with their types, and as args.npuscope what
// the data model knows beyond them.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/print_text.hpp"
#include "formats/chrome/write/event_output.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::chrome {

// What a trace's own reader makes: everything that such a span is, its event says by itself.
constexpr bool is_plain(SpanKind kind) {
  return kind == SpanKind::slice || kind == SpanKind::async || kind == SpanKind::instant;
}

// In bytes.
std::size_t longest_text_of(const Profile& profile);

class SpanArguments {
 private:
  // The arguments of one shape.
  struct Form {
    const ArgumentKey* shape = nullptr;
    std::vector<std::string_view> keys;  // with the comma before and the colon
    std::vector<std::uint32_t> texts;    // places of what may be long
    std::size_t most = 0;                // characters but for those
    std::size_t count() const { return keys.size(); }
  };

 public:
  // `longest_text`: longest_text_of(profile)
  SpanArguments(const Profile& profile, std::size_t longest_text, EventOutput& out);

  // What the data model knows beyond the arguments of all rows of one op and one kind, as text
  // around what it knows of each row. Empty: nothing.
  struct Extras {
    std::string before, after;
    bool any() const { return !before.empty(); }
  };
  // What the event of a row has as arguments.
  struct OfRow {
    std::size_t row = 0;
    const Extras& extras;
    const Form* form = nullptr;  // none: no arguments of its own
    ArgumentRow values{};
    bool has_scope = false;  // of a moment: not written again
    bool any() const { return extras.any() || (form != nullptr && form->count() > has_scope); }
  };
  OfRow of(std::size_t row, const Extras& extras) {
    OfRow arguments{row, extras};
    if (!has_arguments_) return arguments;
    const Arguments& all = profile_.spans.arguments;
    arguments.values = all.row(row);
    const std::uint32_t shape = arguments.values.shape();
    if (shape != 0) arguments.form = &form_of(shape);
    return arguments;
  }
  // So many characters that their members take at most; printed from `at` on, each with a comma
  // before it, and where they end.
  std::size_t most(const OfRow& arguments) {
    const Extras& extras = arguments.extras;
    std::size_t most = most_of_row_ + extras.before.size() + extras.after.size();
    if (arguments.form == nullptr) return most;
    most += arguments.form->most;
    if (!arguments.form->texts.empty()) most += most_of_texts(arguments);
    return most;
  }
  [[gnu::always_inline]] char* print(char* at, const OfRow& arguments) {
    if (const Form* form = arguments.form) {
      const ArgumentKey* const shape = form->shape;
      const std::string_view* const keys = form->keys.data();
      const ArgumentRow values = arguments.values;
      const std::size_t count = form->count();
      for (std::size_t i = 0; i < count; ++i) {
        if (arguments.has_scope && shape[i].name == *scope_key_) continue;
        at = print_argument(print_key(at, keys[i]), shape[i].type, values.bits(i));
      }
    }
    if (most_of_row_ == 0) return print_text(at, arguments.extras.before);
    return arguments.extras.any() ? print_extras(at, arguments) : at;
  }
  Extras extras_of(std::size_t row) const;
  // The event of a row, which need not be a slice, with its arguments where it has some.
  void add(const TraceEvent& event, std::size_t row);
  // How far a moment reaches, which the format has beside the arguments.
  std::optional<Argument> scope_of(std::size_t row) const;
  std::uint64_t not_finite() const { return not_finite_; }

 private:
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
  std::size_t most_of_texts(const OfRow& arguments);
  // Of keys, which have so many bytes behind them as well.
  static constexpr std::size_t key_step = 32;
  [[gnu::always_inline]] static char* print_key(char* at, std::string_view key) {
    if (key.size() > key_step) return print_text(at, key);
    std::memcpy(at, key.data(), key_step);
    return at + key.size();
  }
  [[gnu::always_inline]] char* print_argument(char* at, ArgumentType type, std::uint64_t bits) {
    const Argument argument{{{}, type}, bits};
    switch (type) {
      case ArgumentType::null: return print_text(at, "null");
      case ArgumentType::boolean: return print_text(at, argument.boolean() ? "true" : "false");
      case ArgumentType::integer: return print_integer(at, argument.integer());
      case ArgumentType::unsigned_integer: return print_integer(at, argument.unsigned_integer());
      case ArgumentType::number: return print_number(at, argument.number());
      case ArgumentType::text: return print_text_argument(at, argument.text());
      case ArgumentType::json: return print_text(at, out_.text(argument.text()));
    }
    return at;
  }
  char* print_text_argument(char* at, StringId id) {
    const std::string_view text = out_.text(id);
    return needs_escapes(id) ? print_escaped(at, text) : print_in_quotes(at, text);
  }
  char* print_number(char* at, double number);
  char* print_escaped(char* at, std::string_view text);
  char* print_extras(char* at, const OfRow& arguments);
  char* print_of_row(char* at, std::size_t row);
  std::string members_of_op(std::size_t row) const;

  const Profile& profile_;
  const std::size_t longest_text_;
  EventOutput& out_;
  std::optional<StringId> scope_key_;
  bool has_arguments_ = false;
  bool any_extra_ = false;       // beyond what is_plain() says
  std::size_t most_of_row_ = 0;  // characters of what the data model knows of each row; 0: nothing
  std::uint64_t not_finite_ = 0;
  std::vector<Form> forms_;  // by shape, made when one comes
  std::deque<std::string> keys_;
  std::vector<std::uint32_t> place_of_key_;  // by string: in keys_, from 1 on; 0: not made yet
  enum class Escapes : std::uint8_t { unknown, none, some };
  std::vector<Escapes> escapes_;  // by string: whether its text needs some
  std::string scratch_, text_;
};

}  // namespace npuscope::chrome
