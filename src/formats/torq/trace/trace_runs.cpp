#include "formats/torq/trace/trace_runs.hpp"

#include "formats/torq/annotate/compare.hpp"

#include <algorithm>

#include "base/counting_sort.hpp"
#include "formats/torq/runtime_log.hpp"

namespace npuscope::torq {
namespace {

using perfetto::Arrival;
using perfetto::PlacedSpan;

std::int64_t length_from(Interval at) {
  return std::max<std::int64_t>(0, saturating_subtract(at.end, at.begin));
}

}  // namespace

// Entries are what draws on the track (a run, or one of its calls), by the first slice of each. Of
// those that have begun, the next slices wait in a heap: as many as there are runs that overlap.
class TraceRuns::Stream : public perfetto::SpanStream {
 public:
  Stream(const TraceRuns& runs, UnitId unit)
      : runs_(runs),
        of_calls_(unit == runs.units_.calls),
        has_arrows_(of_calls_ || unit == runs.units_.programs) {
    for (const TracePattern& pattern : runs.patterns_) slices_.push_back(pattern.of(unit));
    of_calls_ ? gather_calls() : gather_runs();
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
      return is_later(slice(b, 0), slice(a, 0));
    };
    if (!std::is_sorted(entries_.begin(), entries_.end(), earlier)) {
      std::sort(entries_.begin(), entries_.end(), earlier);
    }
    if (!entries_.empty()) upcoming_ = slice(entries_.front(), 0);
  }

  bool next(PlacedSpan& span) override {
    while (next_entry_ < entries_.size() &&
           (begun_.empty() || is_later(begun_.front(), upcoming_))) {
      begun_.push_back(upcoming_);
      std::push_heap(begun_.begin(), begun_.end(), is_later);
      if (++next_entry_ < entries_.size()) upcoming_ = slice(entries_[next_entry_], 0);
    }
    if (begun_.empty()) return false;
    std::pop_heap(begun_.begin(), begun_.end(), is_later);
    Slice& first = begun_.back();
    span = first.span;
    if (first.place + 1 == slices_of(first.entry)) {
      begun_.pop_back();
    } else {
      first = slice(first.entry, first.place + 1);
      std::push_heap(begun_.begin(), begun_.end(), is_later);
    }
    return true;
  }

 private:
  struct Slice {
    PlacedSpan span;
    std::uint32_t entry = 0;
    std::uint32_t place = 0;  // in its pattern
  };

  static bool is_later(const Slice& a, const Slice& b) {
    if (a.span.start != b.span.start) return a.span.start > b.span.start;
    if (a.span.duration != b.span.duration) return a.span.duration < b.span.duration;
    return a.entry > b.entry;
  }

  void gather_runs() {
    entries_.reserve(runs_.runs_.size());
    for (std::uint32_t run = 0; run < runs_.runs_.size(); ++run) {
      if (slices_[runs_.runs_[run].pattern] != nullptr) entries_.push_back(run);
    }
  }
  void gather_calls() {
    entries_.reserve(runs_.runs_.size() * call_count);
    for (std::uint32_t run = 0; run < runs_.runs_.size(); ++run) {
      for (std::uint32_t call = 0; call < call_count; ++call) {
        if (runs_.time_of_call(runs_.runs_[run], call)) entries_.push_back(run * call_count + call);
      }
    }
  }
  std::size_t slices_of(std::uint32_t entry) const {
    return of_calls_ ? 1 : slices_[runs_.runs_[entry].pattern]->size();
  }
  Slice slice(std::uint32_t entry, std::uint32_t place) const {
    if (of_calls_) return slice_of_call(entry);
    const Run& run = runs_.runs_[entry];
    const PatternSlice& drawn = (*slices_[run.pattern])[place];
    Interval at = runs_.time_of(run);
    if (!drawn.is_whole) {
      at = {saturating_add(at.begin, drawn.begin), saturating_add(at.begin, drawn.end)};
    }
    const std::uint32_t flows = has_arrows_ ? entry * flow_places : perfetto::no_flows;
    return {{at.begin, length_from(at), drawn.row, flows}, entry, place};
  }
  Slice slice_of_call(std::uint32_t entry) const {
    const Run& run = runs_.runs_[entry / call_count];
    const std::uint32_t call = entry % call_count;
    const Interval at = *runs_.time_of_call(run, call);
    const std::uint32_t row = *runs_.patterns_[run.pattern].calls[call].row;
    const std::uint32_t flows = entry / call_count * flow_places + 1 + call;
    return {{at.begin, length_from(at), row, flows}, entry, 0};
  }

  const TraceRuns& runs_;
  bool of_calls_, has_arrows_;
  std::vector<const std::vector<PatternSlice>*> slices_;  // by pattern
  std::vector<std::uint32_t> entries_;
  std::size_t next_entry_ = 0;
  Slice upcoming_;  // the first of the next entry
  std::vector<Slice> begun_;
};

TraceRuns::TraceRuns(const Annotation& annotation, const TraceUnits& units, SliceRows& rows,
                     double mhz)
    : annotation_(annotation), units_(units) {
  struct Drawn {
    std::optional<ProgramCells> cells;
    std::optional<std::uint32_t> pattern{};  // since it first ran
  };
  std::vector<std::vector<Drawn>> drawn;  // by dispatch and action
  for (std::uint32_t dispatch = 0; dispatch < annotation.rows.size(); ++dispatch) {
    drawn.emplace_back();
    for (std::size_t action = 0; action < annotation.rows[dispatch].size(); ++action) {
      drawn.back().push_back({drawn_cells(annotation, dispatch, action)});
    }
  }
  const bool is_stretched = simulator_slowdown(annotation) > 0;
  const auto mhz_of = [&](std::uint32_t dispatch, std::size_t action, const ProgramCells& cells) {
    const DispatchInfo& info = annotation.debug->dispatches[dispatch];
    const std::uint32_t program = info.actions[action].program;
    if (!is_stretched || program == no_program || !info.programs[program].cycles) return mhz;
    std::optional<std::int64_t> shortest_us;
    for (const AnnotatedInvocation& invocation : annotation.invocations) {
      if (invocation.dispatch != dispatch) continue;
      const auto time = torq::time_of(annotation, invocation, cells);
      if (time) shortest_us = std::min(shortest_us.value_or(length_of(*time)), length_of(*time));
    }
    const auto cycles = double(length_of(*info.programs[program].cycles));
    return shortest_us.value_or(0) > 0 && cycles > 0 ? cycles / double(*shortest_us) : mhz;
  };
  runs_.reserve(annotation.begin_us.size());  // more than there are; what is not used costs nothing
  for (std::uint32_t i = 0; i < annotation.invocations.size(); ++i) {
    const AnnotatedInvocation& invocation = annotation.invocations[i];
    std::vector<Drawn>& actions = drawn[invocation.dispatch];
    for (std::size_t action = 0; action < actions.size(); ++action) {
      Drawn& of = actions[action];
      if (!of.cells || !torq::time_of(annotation, invocation, *of.cells)) continue;
      if (!of.pattern) {
        of.pattern = std::uint32_t(patterns_.size());
        patterns_.push_back(make_pattern(annotation, invocation.dispatch, action, *of.cells, units,
                                         rows, mhz_of(invocation.dispatch, action, *of.cells)));
      }
      add({i, *of.pattern, std::uint32_t(totals_.flows)}, rows);
    }
  }
  gather_operators();
}

// In the order of the annotation.
void TraceRuns::add(const Run& run, SliceRows& rows) {
  TracePattern& pattern = patterns_[run.pattern];
  const Interval at = time_of(run);
  if (runs_.empty()) {
    totals_.first_start = at.begin;
    totals_.first_duration = length_from(at);
  }
  runs_.push_back(run);
  totals_.spans += pattern.slices;
  totals_.earliest = std::min(totals_.earliest, saturating_add(at.begin, pattern.earliest));
  for (std::size_t i = 0; i < pattern.calls.size(); ++i) {
    const auto call = time_of_call(run, i);
    if (!call) continue;
    if (!pattern.calls[i].row) pattern.calls[i].row = rows.add(pattern.calls[i].name);
    ++totals_.spans;
    totals_.earliest = std::min(totals_.earliest, call->begin);
  }
  const Arrows arrows = arrows_of(run);
  totals_.flows += (arrows.to_program != Arrival::never) + (arrows.to_wait != Arrival::never);
}

void TraceRuns::gather_operators() {
  for (std::uint32_t i = 0; i < patterns_.size(); ++i) {
    for (const std::string& name : patterns_[i].operators) {
      std::vector<std::uint32_t>& of = operators_[name];
      if (of.empty() || of.back() != i) of.push_back(i);
    }
  }
  CountingSort by_pattern(runs_.size(), patterns_.size(),
                          [&](std::size_t run) { return runs_[run].pattern; });
  by_pattern.place_items(by_pattern_);
  first_of_pattern_ = by_pattern.first();
}

std::vector<Interval> TraceRuns::times_of(const std::vector<std::uint32_t>& patterns) const {
  std::vector<Interval> times;
  std::size_t count = 0;
  for (const std::uint32_t pattern : patterns) {
    count += first_of_pattern_[pattern + 1] - first_of_pattern_[pattern];
  }
  times.reserve(count);
  for (const std::uint32_t pattern : patterns) {
    const std::uint32_t first = first_of_pattern_[pattern], last = first_of_pattern_[pattern + 1];
    for (std::uint32_t i = first; i < last; ++i) times.push_back(time_of(runs_[by_pattern_[i]]));
  }
  return times;
}

Interval TraceRuns::time_of(const Run& run) const {
  return to_nanoseconds(*torq::time_of(annotation_, annotation_.invocations[run.invocation],
                                       patterns_[run.pattern].cells));
}

std::optional<Interval> TraceRuns::time_of_call(const Run& run, std::size_t call) const {
  const TracePattern& pattern = patterns_[run.pattern];
  if (call >= pattern.calls.size()) return std::nullopt;
  const auto time =
      torq::time_of(annotation_, annotation_.invocations[run.invocation], pattern.calls[call].cell);
  return time ? std::optional(to_nanoseconds(*time)) : std::nullopt;
}

TraceRuns::Arrows TraceRuns::arrows_of(const Run& run) const {
  Arrows arrows;
  const Interval program = time_of(run);
  if (const auto start = time_of_call(run, 0)) {
    arrows.to_program = perfetto::arrival_of(start->begin, program.begin, program.end);
  }
  if (const auto wait = time_of_call(run, 1)) {
    arrows.to_wait = perfetto::arrival_of(program.begin, wait->begin, wait->end);
  }
  return arrows;
}

void TraceRuns::flow_ends(std::uint32_t flows, std::vector<perfetto::FlowEnd>& ends) const {
  ends.clear();
  const Run& run = runs_[flows / flow_places];
  const std::uint32_t place = flows % flow_places;
  const Arrows arrows = arrows_of(run);
  const std::uint64_t first = run.flow, second = first + (arrows.to_program != Arrival::never);
  const auto add_end = [&](Arrival arrival, std::uint64_t number, bool terminates) {
    if (arrival == Arrival::never) return;
    ends.push_back({number, flows, terminates, terminates && arrival == Arrival::at_end});
  };
  if (place <= 1) add_end(arrows.to_program, first, place == 0);
  if (place != 1) add_end(arrows.to_wait, second, place == 2);
}

std::unique_ptr<perfetto::SpanStream> TraceRuns::spans_of(UnitId unit) const {
  return std::make_unique<Stream>(*this, unit);
}

}  // namespace npuscope::torq
