// Spans as events: slices, moments, and what begins and ends by an id.
#pragma once

#include <algorithm>

#include "formats/chrome/write/event_output.hpp"
#include "formats/chrome/write/write_arguments.hpp"
#include "formats/chrome/write/write_tracks.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::chrome {

class SpanWriter {
 public:
  SpanWriter(const Profile& profile, const Layout& layout, EventOutput& out)
      : profile_(profile), layout_(layout), out_(out), arguments_(profile, out) {}

  void write(std::size_t row);
  std::uint64_t not_finite() const { return arguments_.not_finite(); }

 private:
  void write_async(std::size_t row);
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
};

}  // namespace npuscope::chrome
