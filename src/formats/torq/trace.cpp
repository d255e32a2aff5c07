#include "formats/torq/trace.hpp"

#include "base/try.hpp"
#include "formats/torq/annotate/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "formats/torq/profile/rows.hpp"
#include "formats/torq/runtime_log.hpp"

namespace npuscope::torq {
namespace {

using Metric = OverviewMetric;
using perfetto::PlacedSpan;

struct OverviewTrack {
  const char* track;
  const char* label;
  Metric metric;
};
constexpr OverviewTrack overview_tracks[] = {
    {"00 OVERVIEW DMA COMBINED", "DMA+CDMA union", Metric::dma_union},
    {"01 OVERVIEW COMPUTE COMBINED", "SLICE+CSS union", Metric::compute},
    {"02 OVERVIEW DMA", "DMA total", Metric::dma},
    {"03 OVERVIEW CDMA", "CDMA total", Metric::cdma},
    {"04 OVERVIEW SLICE", "SLICE 0 + 1 union", Metric::slice},
    {"05 OVERVIEW SLICE 0", "SLICE 0", Metric::slice_0},
    {"06 OVERVIEW SLICE 1", "SLICE 1", Metric::slice_1},
    {"07 OVERVIEW CSS", "CSS", Metric::css},
    {"08 OVERVIEW DMA ONLY", "DMA/CDMA ONLY (no compute)", Metric::dma_only},
    {"09 OVERVIEW COMPUTE ONLY", "COMPUTE ONLY (no DMA/CDMA)", Metric::compute_only},
    {"10 OVERVIEW DMA COMPUTE OVERLAP", "DMA/CDMA<->COMPUTE overlap", Metric::overlap},
    {"11 OVERVIEW HAL", "HAL total", Metric::hal},
    {"12 OVERVIEW HOST", "HOST total", Metric::host},
    {"13 OVERVIEW HOST COPY", "HOST COPY total", Metric::host_copy},
    {"14 OVERVIEW IDLE", "IDLE", Metric::idle},
    {"15 OVERALL", "OVERALL", Metric::overall},
};

// "tosa.add" of "tosa.add@L3".
std::string type_of(const std::string& source_operator) {
  return source_operator.substr(0, source_operator.rfind('@'));
}

// Spans that are held because they are few beside what else is.
class HeldSpans : public perfetto::SpanStream {
 public:
  explicit HeldSpans(std::vector<PlacedSpan> spans) : spans_(std::move(spans)) {}
  bool next(PlacedSpan& span) override {
    if (next_ == spans_.size()) return false;
    span = spans_[next_++];
    return true;
  }

 private:
  std::vector<PlacedSpan> spans_;
  std::size_t next_ = 0;
};

class SetSpans : public perfetto::SpanStream {
 public:
  SetSpans(IntervalSet set, std::uint32_t row) : set_(std::move(set)), row_(row) {}
  bool next(PlacedSpan& span) override {
    if (next_ == set_.size()) return false;
    const Interval at = set_[next_++];
    span = {at.begin, length_of(at), row_};
    return true;
  }

 private:
  IntervalSet set_;
  std::uint32_t row_;
  std::size_t next_ = 0;
};

Profile described(const Annotation& annotation) {
  Profile profile;
  profile.base_clock = profile.add_clock("monotonic", ClockKind::wall, Hertz{1e9});
  profile.provenance.format = "Torq annotated trace";
  profile.provenance.platform = Provenance::Platform::torq;
  profile.provenance.device = "Torq";
  profile.provenance.files = {annotation.log_name};
  profile.notes = annotation.notes;
  return profile;
}

}  // namespace

AnnotatedTrace::AnnotatedTrace(const Annotation& annotation, double mhz)
    : annotation_(annotation),
      profile_(described(annotation)),
      rows_(profile_),
      units_(profile_, simulator_slowdown(annotation) > 0),
      runs_(annotation, units_, rows_, mhz),
      totals_(runs_.totals()) {
  for (const HalCall& call : annotation_.hal) {
    const auto [place, is_new] = hal_rows_.try_emplace(hal_key(call));
    if (is_new) place->second = rows_.add(fmt::format("Hal | {}", location_of(annotation_, call)));
    count(to_nanoseconds(Interval{call.begin_us, call.end_us}));
  }
  add_locations();
  add_overview();
}

// A call as a whole has the name of what was called.
AnnotatedTrace::HalKey AnnotatedTrace::hal_key(const HalCall& call) const {
  const bool is_whole = annotation_.strings[call.type] == "HAL_CALL";
  return {is_whole, is_whole ? call.dispatch : call.type};
}

void AnnotatedTrace::count(Interval at) {
  if (totals_.spans++ == 0) {
    totals_.first_start = at.begin;
    totals_.first_duration = std::max<std::int64_t>(0, saturating_subtract(at.end, at.begin));
  }
  totals_.earliest = std::min(totals_.earliest, at.begin);
}

void AnnotatedTrace::add_single(std::string_view track, UnitId parent, std::string_view name,
                                Interval at, std::string_view category) {
  const UnitId unit = add_unit(profile_, track, Engine::other, parent);
  const std::int64_t length = std::max<std::int64_t>(0, saturating_subtract(at.end, at.begin));
  singles_[unit] = {at.begin, length, rows_.add(name, {}, category)};
  count(at);
}

// A program counts for each of its operators, so that these overlap: they are not parts of a whole.
void AnnotatedTrace::add_locations() {
  const UnitId locations =
      add_unit(profile_, "Compiler Input Locations", Engine::other, UnitId::none);
  std::map<std::string, std::vector<std::uint32_t>> of_type;
  for (const auto& [source_operator, patterns] : runs_.operators()) {
    const IntervalSet set = union_of(runs_.times_of(patterns));
    const UnitId unit =
        add_unit(profile_, fmt::format("{} - {}", source_operator, duration_text(length_of(set))),
                 Engine::other, locations);
    if (!set.empty()) locations_[unit] = {&patterns, rows_.add(source_operator)};
    for (const Interval& each : set) count(each);
    std::vector<std::uint32_t>& of = of_type[type_of(source_operator)];
    of.insert(of.end(), patterns.begin(), patterns.end());
  }
  if (!of_type.empty()) add_types(of_type);
}

void AnnotatedTrace::add_types(
    std::map<std::string, std::vector<std::uint32_t>>& patterns_of_type) {
  std::vector<std::pair<std::int64_t, std::string>> totals;
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  for (auto& [type, patterns] : patterns_of_type) {
    std::sort(patterns.begin(), patterns.end());
    patterns.erase(std::unique(patterns.begin(), patterns.end()), patterns.end());
    const IntervalSet set = union_of(runs_.times_of(patterns));
    if (!set.empty()) begin = std::min(begin, set.front().begin);
    totals.emplace_back(-length_of(set), type);
  }
  std::sort(totals.begin(), totals.end());
  if (begin == std::numeric_limits<std::int64_t>::max()) begin = runs_.totals().first_start;
  const UnitId root = add_unit(profile_, "Operator Type Totals", Engine::other, UnitId::none);
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const auto& [negative, type] = totals[i];
    add_single(fmt::format("{:02} {}", i + 1, type), root,
               fmt::format("{}: {}", type, duration_text(-negative)),
               {begin, saturating_subtract(begin, negative)});
  }
}

void AnnotatedTrace::add_overview() {
  RunIntervals run = run_intervals(annotation_);
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  for (const RunPart& each : run.parts) begin = std::min(begin, each.at.begin);
  const Overview overview = make_overview(std::move(run));
  if (begin == std::numeric_limits<std::int64_t>::max()) begin = 0;
  const UnitId root = add_unit(profile_, "Host Profile Overview", Engine::other, UnitId::none);
  for (const OverviewTrack& each : overview_tracks) {
    const std::int64_t value = overview.of(each.metric).value_or(0);
    std::string name = fmt::format("{}: {}", each.label, duration_text(value));
    if (each.metric != Metric::overall) {
      name += fmt::format(" ({:.2f}%)", percent_of_overall(overview, each.metric));
    }
    add_single(each.track, root, name, {begin, saturating_add(begin, value)}, "overview");
  }
}

std::unique_ptr<perfetto::SpanStream> AnnotatedTrace::spans_of(UnitId unit) const {
  if (unit == units_.hal) return std::make_unique<HeldSpans>(hal_spans());
  if (const auto found = singles_.find(unit); found != singles_.end()) {
    return std::make_unique<HeldSpans>(std::vector{found->second});
  }
  if (const auto found = locations_.find(unit); found != locations_.end()) {
    return std::make_unique<SetSpans>(union_of(runs_.times_of(*found->second.patterns)),
                                      found->second.row);
  }
  return runs_.spans_of(unit);
}

std::vector<PlacedSpan> AnnotatedTrace::hal_spans() const {
  std::vector<PlacedSpan> spans;
  spans.reserve(annotation_.hal.size());
  for (const HalCall& call : annotation_.hal) {
    const Interval at = to_nanoseconds(Interval{call.begin_us, call.end_us});
    spans.push_back({at.begin, saturating_subtract(at.end, at.begin), hal_rows_.at(hal_key(call))});
  }
  const auto earlier = [](const PlacedSpan& a, const PlacedSpan& b) {
    return a.start != b.start ? a.start < b.start : a.duration > b.duration;
  };
  if (!std::is_sorted(spans.begin(), spans.end(), earlier)) {
    std::stable_sort(spans.begin(), spans.end(), earlier);
  }
  return spans;
}

Status write_annotated_trace(const Annotation& annotation, const std::filesystem::path& path,
                             double mhz) {
  const AnnotatedTrace trace(annotation, mhz);
  const perfetto::TraceContent contents[] = {trace.content()};
  TRY(perfetto::write_trace(contents, path));
  return {};
}

}  // namespace npuscope::torq
