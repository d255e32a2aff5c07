// When the actions of an annotated run drew their patterns: 12 bytes a run of an action, and what
// they draw on a track comes in the order of time, made as it is asked for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/perfetto/write/span_source.hpp"
#include "formats/torq/trace/trace_patterns.hpp"

namespace npuscope::torq {

class TraceRuns {
 public:
  TraceRuns(const Annotation& annotation, const TraceUnits& units, SliceRows& rows, double mhz);

  const perfetto::SpanSource::Totals& totals() const { return totals_; }
  std::unique_ptr<perfetto::SpanStream> spans_of(UnitId unit) const;
  void flow_ends(std::uint32_t flows, std::vector<perfetto::FlowEnd>& ends) const;

  // The patterns of each source operator that ran, by its name.
  const std::map<std::string, std::vector<std::uint32_t>>& operators() const { return operators_; }
  // When they ran, in nanoseconds.
  std::vector<Interval> times_of(const std::vector<std::uint32_t>& patterns) const;

 private:
  class Stream;
  struct Run {
    std::uint32_t invocation = 0;
    std::uint32_t pattern = 0;
    std::uint32_t flow = 0;  // the number of its first arrow
  };
  struct Arrows {
    perfetto::Arrival to_program = perfetto::Arrival::never;
    perfetto::Arrival to_wait = perfetto::Arrival::never;
  };
  static constexpr std::size_t call_count = 2;
  // What PlacedSpan::flows knows a run by: its program, its start, its wait.
  static constexpr std::uint32_t flow_places = 1 + call_count;

  void add(const Run& run, SliceRows& rows);
  void gather_operators();
  Interval time_of(const Run& run) const;
  std::optional<Interval> time_of_call(const Run& run, std::size_t call) const;
  Arrows arrows_of(const Run& run) const;

  const Annotation& annotation_;
  const TraceUnits& units_;
  std::vector<TracePattern> patterns_;
  std::vector<Run> runs_;                        // in the order of the annotation
  Column<std::uint32_t> by_pattern_;             // runs
  std::vector<std::uint32_t> first_of_pattern_;  // in by_pattern_
  std::map<std::string, std::vector<std::uint32_t>> operators_;
  perfetto::SpanSource::Totals totals_;
};

}  // namespace npuscope::torq
