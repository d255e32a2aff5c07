// Spans as events: slices, moments, and what begins and ends by an id.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "formats/chrome/write/event_output.hpp"
#include "formats/chrome/write/write_arguments.hpp"
#include "formats/chrome/write/write_tracks.hpp"
#include "npuscope/base/progress.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::chrome {

// Flows as arrows. Their ends stand where their slices begin, in the lines behind them: there every
// viewer binds them to these slices. An end for which that is not possible stands behind all
// slices, at a moment in which its slice is the innermost.
class FlowWriter {
 public:
  FlowWriter(const Profile& profile, const RowsByUnit& by_unit, const Layout& layout,
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

class SpanWriter {
 public:
  SpanWriter(const Profile& profile, const Layout& layout, std::size_t longest_text,
             EventOutput& out)
      : profile_(profile),
        layout_(layout),
        out_(out),
        arguments_(profile, longest_text, out),
        recent_ops_(std::bit_ceil(std::min(profile.ops.size() + 1, most_recent_ops))),
        bits_of_recent_(std::uint32_t(recent_ops_.size() - 1)),
        before_time_(std::max<std::size_t>(layout.tracks.size(), 1)) {}

  void write(std::size_t row);
  std::uint64_t not_finite() const { return arguments_.not_finite(); }

 private:
  // What events of one op and one kind of span have in common.
  struct OpText {
    std::uint64_t of = std::numeric_limits<std::uint64_t>::max();
    std::string after_duration;
    SpanArguments::Extras extras;
  };
  static constexpr std::size_t most_recent_ops = 1 << 14;

  void write_slice(std::size_t row);
  void write_instant(std::size_t row);
  void write_async(std::size_t row);
  void set_category(TraceEvent& event, std::size_t row) const;
  void make_op_text(OpText& text, std::size_t row);
  void make_before_time(std::uint32_t track);
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
  std::vector<OpText> recent_ops_;  // by the low bits of the op; a power of two
  const std::uint32_t bits_of_recent_;
  std::vector<std::string> before_time_;  // of slices, by track; empty: not made yet
};

// All spans as events, in the order of the layout: printed in blocks by several cores, and handed
// on in their order. The text is the same with any number of cores.
class BlockWriter {
 public:
  BlockWriter(const Profile& profile, const Layout& layout, const FlowWriter& flows,
              EventOutput& out)
      : profile_(profile),
        layout_(layout),
        flows_(flows),
        out_(out),
        longest_text_(longest_text_of(profile)) {}

  void write(const ProgressReport& progress);  // of spans
  std::uint64_t not_finite() const;

 private:
  // What a core prints: the lines from `first` on, until `end`, or until they are enough.
  struct Block {
    explicit Block(const BlockWriter& of)
        : out(of.profile_), spans(of.profile_, of.layout_, of.longest_text_, out) {
      out.use_places(of.layout_.tracks);
      out.events.continue_list();
    }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    EventOutput out;
    SpanWriter spans;
    std::size_t first = 0, printed = 0, end = 0;
  };

  void write_line(std::size_t line, SpanWriter& spans, EventOutput& out) const;
  void print(Block& block) const;
  void hand_on(Block& block);
  Block& block_for(std::size_t number);

  const Profile& profile_;
  const Layout& layout_;
  const FlowWriter& flows_;
  EventOutput& out_;
  const std::size_t longest_text_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::unique_ptr<SpanWriter> alone_;  // what is printed into `out_` itself
};

}  // namespace npuscope::chrome
