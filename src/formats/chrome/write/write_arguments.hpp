// What an event says in "args": a span's own arguments with their types, and as args.npuscope what
// the data model knows beyond them.
#pragma once

#include <cstdint>
#include <optional>

#include "formats/chrome/write/event_output.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::chrome {

// What a trace's own reader makes: everything that such a span is, its event says by itself.
constexpr bool is_plain(SpanKind kind) {
  return kind == SpanKind::slice || kind == SpanKind::async || kind == SpanKind::instant;
}

class SpanArguments {
 public:
  SpanArguments(const Profile& profile, EventOutput& out);

  // ,"args":{…}, or nothing.
  void write(std::size_t row);
  // How far a moment reaches, which the format has beside the arguments.
  std::optional<Argument> scope_of(std::size_t row) const;
  std::uint64_t not_finite() const { return not_finite_; }

 private:
  void add_argument(const Argument& argument);
  bool has_extras(std::size_t row) const;
  void write_extras(std::size_t row);
  void write_op_extras(const Op& op);
  void separate_extra();
  void begin_extra(std::string_view name);

  const Profile& profile_;
  EventOutput& out_;
  std::optional<StringId> scope_key_;
  bool any_extra_ = false;       // beyond what is_plain() says
  bool any_extra_here_ = false;  // in the span being written
  std::uint64_t not_finite_ = 0;
};

}  // namespace npuscope::chrome
