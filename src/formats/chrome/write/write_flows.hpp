// Flows as arrows. Their ends stand where their slices begin, in the lines behind them: there every
// viewer binds them to these slices. An end for which that is not possible stands behind all
// slices, at a moment in which its slice is the innermost.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/chrome/write/event_output.hpp"
#include "formats/chrome/write/write_tracks.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::chrome {

class FlowWriter {
 public:
  FlowWriter(const Profile& profile, const SpansByUnit& by_unit, const Layout& layout,
             const Nanoseconds& nanoseconds);

  // The ends that stand behind the line of a span.
  void write_behind(std::size_t row, EventOutput& out) const {
    if (!has_ends_.empty() && has_ends_[row]) write_ends(row, out);
  }
  // All others, behind the spans.
  void write_rest(EventOutput& out) const;

  // How many were left out because they end before they begin, and how many Perfetto binds to
  // another slice or turns around.
  std::uint64_t backwards() const { return backwards_; }
  std::uint64_t misread() const { return misread_; }

 private:
  struct End {
    std::uint32_t behind = 0;  // the line of this span
    std::uint32_t flow = 0;    // in the profile
    std::uint64_t id = 0;
    std::int64_t time = 0;  // nanoseconds
    bool arrives = false;
  };
  void place(std::uint32_t flow, const Anchor& from, const Anchor& to,
             const std::vector<std::uint32_t>& line_of);
  void write_ends(std::size_t row, EventOutput& out) const;
  void write_end(const End& end, EventOutput& out) const;

  const Profile& profile_;
  const Layout& layout_;
  std::vector<bool> has_ends_;  // by span; empty: none has
  std::vector<End> ends_;       // by span
  std::vector<End> rest_;
  std::uint64_t last_id_ = 0, backwards_ = 0, misread_ = 0;
};

}  // namespace npuscope::chrome
