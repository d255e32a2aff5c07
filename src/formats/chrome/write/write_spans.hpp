// Spans as events: slices, moments, and what begins and ends by an id.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "formats/chrome/write/event_output.hpp"
#include "formats/chrome/write/write_arguments.hpp"
#include "formats/chrome/write/write_tracks.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::chrome {

class SpanWriter {
 public:
  SpanWriter(const Profile& profile, const Layout& layout, EventOutput& out)
      : profile_(profile),
        layout_(layout),
        out_(out),
        arguments_(profile, out),
        recent_ops_(most_recent_ops) {}

  void write(std::size_t row);
  std::uint64_t not_finite() const { return arguments_.not_finite(); }

 private:
  // What events of one op and one kind of span have in common.
  struct OpText {
    std::uint64_t of = std::numeric_limits<std::uint64_t>::max();
    std::string after_duration, arguments;
  };
  static constexpr std::size_t most_recent_ops = 1 << 14;  // a power of two

  void write_slice(std::size_t row);
  void write_instant(std::size_t row);
  void write_async(std::size_t row);
  void set_category(TraceEvent& event, std::size_t row) const;
  void make_op_text(OpText& text, std::size_t row);
  const std::string& make_before_time(std::uint32_t track);
  // Stays until the next call.
  std::string_view name_of(std::size_t row);
  std::int64_t end_of(std::size_t row) const {
    return saturating_add(profile_.spans.start[row],
                          std::max<std::int64_t>(0, profile_.spans.duration[row]));
  }

  const Profile& profile_;
  const Layout& layout_;
  EventOutput& out_;
  SpanArguments arguments_;
  std::string wait_name_;
  std::vector<OpText> recent_ops_;        // by the low bits of the op
  std::vector<std::string> before_time_;  // of slices, by track; empty: not made yet
};

}  // namespace npuscope::chrome
