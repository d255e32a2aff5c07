// Where the spans of a trace come from: of a profile that holds them, or of something that knows
// how to make them and need not hold all at once. The writer asks unit by unit, as often as it
// takes.
//
//   class Runs : public SpanSource { … };              // a profile of 12 spans, run 4 M times
//   const TraceContent contents[] = {{&profile, &runs}};
//   write_trace(contents, "run.pb");
//
// Then a row of the profile's spans is what all executions of it have in common (op, arguments,
// measures), and a PlacedSpan is one execution.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "formats/perfetto/trace_time.hpp"
#include "npuscope/formats/perfetto/write.hpp"
#include "npuscope/profile/profile.hpp"
#include "npuscope/profile/spans_by_unit.hpp"
#include "profile/rows_by_unit.hpp"

namespace npuscope::perfetto {

inline constexpr std::uint32_t no_flows = std::numeric_limits<std::uint32_t>::max();

struct PlacedSpan {
  std::int64_t start = 0;          // ticks of the profile's base clock
  std::int64_t duration = 0;       // the same, not negative
  std::uint32_t row = 0;           // in Profile::spans
  std::uint32_t flows = no_flows;  // what SpanSource::flow_ends() knows its arrows by
  SpanKind kind = SpanKind::slice;
};

struct FlowEnd {
  std::uint64_t number = 0;        // of the arrow, from 0
  std::uint32_t flows = no_flows;  // PlacedSpan::flows of its span
  bool terminates = false;
  bool on_slice_end = false;
};

// An arrow leaves where its first span begins. It must not arrive earlier; where both begin
// together it arrives at the end of the second, which is later and so comes second in a viewer.
enum class Arrival : std::uint8_t { never, at_begin, at_end };
constexpr Arrival arrival_of(std::int64_t leaves, std::int64_t begin, std::int64_t end) {
  if (leaves < begin) return Arrival::at_begin;
  return leaves == begin && end > begin ? Arrival::at_end : Arrival::never;
}

class SpanStream {
 public:
  virtual ~SpanStream() = default;
  // By start, the longer first. False: there are no more.
  virtual bool next(PlacedSpan& span) = 0;
};

class SpanSource {
 public:
  struct Totals {
    std::uint64_t spans = 0;
    std::uint64_t flows = 0;
    std::int64_t earliest = std::numeric_limits<std::int64_t>::max();  // start
    std::int64_t first_start = 0, first_duration = 0;  // of the first span in the profile's order
  };

  virtual ~SpanSource() = default;
  virtual Totals totals() const = 0;
  // UnitId::none: of what has no unit. The same spans each time.
  virtual std::unique_ptr<SpanStream> spans_of(UnitId unit) const = 0;
  // Of a span that has arrows, in place of what `ends` held.
  virtual void flow_ends(std::uint32_t flows, std::vector<FlowEnd>& ends) const = 0;
  // How many spans the writer may hold where they overlap without nesting. Beyond that it asks for
  // a unit's spans once more.
  virtual std::size_t max_held() const = 0;
  virtual void count_losses(Losses&) const {}
};

struct TraceContent {
  const Profile* profile = nullptr;
  const SpanSource* spans = nullptr;  // none: the profile's own
};

Result<WriteReport> write_trace(std::span<const TraceContent> contents,
                                const std::filesystem::path& path,
                                const WriteOptions& options = {});
WriteReport write_trace(std::span<const TraceContent> contents,
                        const std::function<void(std::string_view)>& sink,
                        const WriteOptions& options = {});

// The spans that a profile holds, as a trace asks for them.

SpanSource::Totals totals_of(const Profile& profile);

class ProfileSpans : public SpanSource {
 public:
  // Whether an arrow goes backward is told by the trace's times, which may be coarser.
  ProfileSpans(const Profile& profile, const TraceTime& time);

  Totals totals() const override;
  std::unique_ptr<SpanStream> spans_of(UnitId unit) const override;
  void flow_ends(std::uint32_t row, std::vector<FlowEnd>& ends) const override;
  std::size_t max_held() const override { return profile_.spans.size(); }
  void count_losses(Losses& losses) const override;

 private:
  class Stream;
  void number_flows(const TraceTime& time);

  const Profile& profile_;
  RowsByUnit by_unit_;
  std::vector<FlowEnd> flow_ends_;  // by row, which is what they are known by
  std::vector<bool> has_flow_;      // by row; empty: none has
  std::uint64_t flows_ = 0;
  std::uint64_t backward_flows_ = 0;
  std::uint64_t lost_flows_ = 0;
  std::uint64_t named_flows_ = 0;
};

}  // namespace npuscope::perfetto
