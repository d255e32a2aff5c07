// The overview out of what an annotation has written before: a table, or a trace.
#include <algorithm>
#include <map>

#include "base/try.hpp"
#include "formats/torq/annotate/read_annotated.hpp"
#include "formats/torq/overview.hpp"

namespace npuscope::torq {
namespace {

using Metric = OverviewMetric;

// Programs by the rows that start and end them.
class TableIntervals {
 public:
  void take(const AnnotatedRow& row) {
    const std::string_view operation = row.operation;
    take_ends(row);
    const bool is_whole = row.begin_ns && row.end_ns;
    if (operation == "torq_hl.start_program (host)") {  // of 2026-01: the row is the program
      if (is_whole) run_.add({*row.begin_ns, *row.end_ns}, doing(Doing::host));
      return;
    }
    if (operation == "torq_hl.start_program") {
      started_[std::string(row.job)] = row.begin_ns;
      return;
    }
    if (!ends_program(row)) {
      if (!is_whole) return;
      const Interval at{*row.begin_ns, *row.end_ns};
      if (operation.starts_with("__HAL")) run_.add(at, doing(Doing::hal));
      if (is_host_copy(row)) run_.add(at, doing(Doing::host_copy));
      return;
    }
    if (!row.end_ns) return;
    const auto start = start_of(row);
    if (!start) return void(++without_start_);
    const Interval whole{*start, *row.end_ns};
    run_.add(whole, row.uses ? doing(Doing::program) | doing(*row.uses) : doing(Doing::host));
  }
  const RunIntervals& run() const { return run_; }
  std::uint64_t without_start() const { return without_start_; }

 private:
  // Tables of 2025 have no rows of starts; where there is one, its begin may have been lost.
  std::optional<std::int64_t> start_of(const AnnotatedRow& row) const {
    const auto found = started_.find(std::string(row.job));
    if (found == started_.end()) return row.begin_ns;
    if (!found->second || *found->second > *row.end_ns) return std::nullopt;
    return found->second;
  }
  // Starts begin a program and waits end it; of copies and calls the row is all.
  void take_ends(const AnnotatedRow& row) {
    const bool starts = row.operation == "torq_hl.start_program", waits = ends_program(row);
    const bool is_both = is_host_copy(row) || row.operation.starts_with("__HAL") ||
                         row.operation == "torq_hl.start_program (host)";
    if (row.begin_ns && (starts || is_both)) {
      run_.first_begin = std::min(run_.first_begin.value_or(*row.begin_ns), *row.begin_ns);
    }
    if (row.end_ns && (waits || is_both)) {
      run_.last_end = std::max(run_.last_end.value_or(*row.end_ns), *row.end_ns);
    }
  }

  RunIntervals run_;
  std::map<std::string, std::optional<std::int64_t>> started_;  // by job
  std::uint64_t without_start_ = 0;
};

struct TraceLabel {
  std::string_view label;
  Metric metric;
};
constexpr TraceLabel trace_labels[] = {
    {"DMA+CDMA union", Metric::dma_union},
    {"SLICE+CSS union", Metric::compute},
    {"DMA total", Metric::dma},
    {"CDMA total", Metric::cdma},
    {"SLICE 0 + 1 union", Metric::slice},
    {"SLICE 0", Metric::slice_0},
    {"SLICE 0 total", Metric::slice_0},
    {"SLICE 1", Metric::slice_1},
    {"SLICE 1 total", Metric::slice_1},
    {"CSS", Metric::css},
    {"CSS total", Metric::css},
    {"DMA/CDMA ONLY (no compute)", Metric::dma_only},
    {"COMPUTE ONLY (no DMA/CDMA)", Metric::compute_only},
    {"DMA/CDMA<->COMPUTE overlap", Metric::overlap},
    {"HAL total", Metric::hal},
    {"HOST total", Metric::host},
    {"HOST COPY total", Metric::host_copy},
    {"IDLE", Metric::idle},
    {"OVERALL", Metric::overall},
};

std::optional<Metric> metric_of(std::string_view slice_name) {
  const std::string_view label = slice_name.substr(0, slice_name.rfind(": "));
  for (const TraceLabel& each : trace_labels) {
    if (each.label == label) return each.metric;
  }
  return std::nullopt;
}

}  // namespace

Result<Overview> read_annotated_overview(ByteSource& source, OverviewRules rules) {
  TableIntervals intervals;
  std::vector<Note> notes;
  TRY(read_annotated(source, notes, [&](const AnnotatedRow& row) { intervals.take(row); }));
  if (intervals.without_start() > 0) {
    notes.push_back({Severity::warning, source.name(), 0,
                     "programs whose begin is not in the table; in no sum",
                     intervals.without_start()});
  }
  Overview overview = make_overview(intervals.run(), rules);
  overview.model = model_name(source.name());
  overview.notes = std::move(notes);
  return overview;
}

Result<Overview> read_trace_overview(const Profile& trace, OverviewRules rules) {
  Overview overview;
  const std::string file = trace.provenance.files.empty() ? "" : trace.provenance.files.front();
  overview.model = model_name(file);
  std::map<Metric, std::vector<Interval>> used;
  for (const Unit& unit : trace.units) {
    if (trace.text(unit.name) == "DMA In Used") used[Metric::dma_in];
    if (trace.text(unit.name) == "DMA Out Used") used[Metric::dma_out];
  }
  const Spans& spans = trace.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::size_t op = index_of(spans.op[row]), unit = index_of(spans.unit[row]);
    if (op >= trace.ops.size() || unit >= trace.units.size()) continue;
    const std::string_view track = trace.text(trace.units[unit].name);
    const Interval at{spans.start[row], saturating_add(spans.start[row], spans.duration[row])};
    if (track == "DMA In Used") used[Metric::dma_in].push_back(at);
    if (track == "DMA Out Used") used[Metric::dma_out].push_back(at);
    if (track.find("OVERALL") == track.npos && track.find("OVERVIEW") == track.npos) continue;
    const auto metric = metric_of(trace.text(trace.ops[op].name));
    if (metric) overview.nanoseconds[std::size_t(*metric)] = length_of(at);
  }
  if (!overview.of(Metric::overall)) {
    return input_error("{}: has no overview tracks; name the runtime log and its debug information",
                       file);
  }
  for (const auto& [metric, intervals] : used) {
    overview.nanoseconds[std::size_t(metric)] = covered_length(intervals);
  }
  auto& hal = overview.nanoseconds[std::size_t(Metric::hal)];
  if (hal == 0 && rules == OverviewRules::own) hal.reset();
  return overview;
}

}  // namespace npuscope::torq
