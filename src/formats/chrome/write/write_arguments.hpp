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

  // The event of a row, with its arguments where it has some.
  void add(const TraceEvent& event, std::size_t row);
  // How far a moment reaches, which the format has beside the arguments.
  std::optional<Argument> scope_of(std::size_t row) const;
  std::uint64_t not_finite() const { return not_finite_; }

 private:
  void write_argument(const Argument& argument);
  bool has_extras(std::size_t row) const;
  void write_extras(std::size_t row);
  void write_op_extras(const Op& op);

  const Profile& profile_;
  EventOutput& out_;
  std::optional<StringId> scope_key_;
  bool any_extra_ = false;  // beyond what is_plain() says
  std::uint64_t not_finite_ = 0;
};

}  // namespace npuscope::chrome
