// An annotated run as a Perfetto trace with the tracks of the vendor's:
//
//   Host                      HAL, NSS Programs, Host Programs, Host Copy, NSS Calls
//   NPU Task Breakdown        … (Compile): the compiler's estimate, from each program's measured
//   start NPU Task Measurements     DMA In Used …: the programs that use the unit Compiler Input
//   Locations  the programs of each source operator Operator Type Totals      how long programs
//   with an operator of the type ran Host Profile Overview     00 … 15: rows of the overview as
//   slices
//
// Of a simulator's run the estimates are stretched to each program's shortest run, and their tracks
// say so: at the clock nobody could see them next to it.
//
// Beside what the vendor's trace has: arrows from NSS_START to the program to NSS_WAIT, what moves
// from where to where, addresses and full locations as annotations, one track named NPU Task
// Breakdown and not two.
//
// A log of a gigabyte draws hundreds of millions of slices, so that they are never held: the times
// of the annotation are, and what a program draws each time it runs.
#pragma once

#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "formats/perfetto/write/span_source.hpp"
#include "formats/torq/annotate/annotate.hpp"
#include "formats/torq/annotate/simulator.hpp"
#include "formats/torq/overview.hpp"
#include "formats/torq/trace/trace_runs.hpp"

namespace npuscope::torq {

class AnnotatedTrace : public perfetto::SpanSource {
 public:
  // Times in nanoseconds. Estimates are left out where the dispatch has none. `annotation` must
  // live as long.
  explicit AnnotatedTrace(const Annotation& annotation, double mhz = compile_clock_mhz);
  AnnotatedTrace(const AnnotatedTrace&) = delete;
  AnnotatedTrace& operator=(const AnnotatedTrace&) = delete;

  perfetto::TraceContent content() const { return {&profile_, this}; }

  Totals totals() const override { return totals_; }
  std::unique_ptr<perfetto::SpanStream> spans_of(UnitId unit) const override;
  void flow_ends(std::uint32_t flows, std::vector<perfetto::FlowEnd>& ends) const override {
    runs_.flow_ends(flows, ends);
  }
  std::size_t max_held() const override { return std::size_t{1} << 20; }

 private:
  struct Location {
    const std::vector<std::uint32_t>* patterns = nullptr;  // of TraceRuns::operators()
    std::uint32_t row = 0;
  };
  using HalKey = std::pair<bool, StringId>;

  void add_locations();
  void add_types(std::map<std::string, std::vector<std::uint32_t>>& patterns_of_type);
  void add_overview();
  void add_single(std::string_view track, UnitId parent, std::string_view name, Interval at,
                  std::string_view category = {});
  void count(Interval at);
  HalKey hal_key(const HalCall& call) const;
  std::vector<perfetto::PlacedSpan> hal_spans() const;

  const Annotation& annotation_;
  Profile profile_;
  SliceRows rows_;
  TraceUnits units_;
  TraceRuns runs_;
  Totals totals_;
  std::map<HalKey, std::uint32_t> hal_rows_;
  std::unordered_map<UnitId, Location> locations_;
  std::unordered_map<UnitId, perfetto::PlacedSpan> singles_;  // of tracks with one slice
};

Status write_annotated_trace(const Annotation& annotation, const std::filesystem::path& path,
                             double mhz = compile_clock_mhz);

}  // namespace npuscope::torq
