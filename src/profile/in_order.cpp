#include "profile/in_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include "npuscope/profile/span_roles.hpp"
#include "npuscope/profile/spans_by_unit.hpp"
#include "npuscope/profile/unit_path.hpp"
#include "profile/self_times.hpp"
#include "profile/shared_numbers.hpp"

namespace npuscope {
namespace {

struct InOrder {
  std::uint32_t track;
  std::uint32_t row;
  Interval interval;
};

class Cutting {
 public:
  explicit Cutting(Profile& profile) : profile_(profile), tolerance_(nesting_tolerance(profile)) {}

  // Of one track, by start.
  void cut(std::span<InOrder> spans) {
    std::size_t next = spans.size();  // the first that begins later
    for (std::size_t i = spans.size(); i-- > 0;) {
      if (i + 1 < spans.size() && spans[i].interval.begin < spans[i + 1].interval.begin) {
        next = i + 1;
      }
      if (next == spans.size()) continue;
      Interval& interval = spans[i].interval;
      const Interval after = spans[next].interval;
      const bool encloses = after.end <= interval.end;
      if (!encloses || interval.end - after.begin <= tolerance_) continue;
      note(spans[i].row, interval);
      interval.end = after.begin;
      profile_.spans.duration[spans[i].row] = after.begin - interval.begin;
    }
  }

  // Those that were on lanes beside their track for what was cut.
  void move_back(std::span<const InOrder> spans) {
    std::int64_t end = std::numeric_limits<std::int64_t>::min();
    for (const InOrder& span : spans) {
      if (span.interval.begin >= end) profile_.spans.unit[span.row] = UnitId(span.track);
      end = std::max(end, span.interval.end);
    }
  }

  void finish() {
    if (cut_ == 0) return;
    const auto& files = profile_.provenance.files;
    const double rate = profile_.clocks[index_of(profile_.base_clock)].rate.value;
    const Op& op = profile_.ops[index_of(profile_.spans.op[longest_])];
    profile_.notes.push_back(
        {Severity::warning, files.empty() ? "" : files.front(), 0,
         fmt::format("spans that ran over the next ones of a track that executes in order, cut "
                     "where the next begins; the longest: '{}' on {}, {} as recorded",
                     profile_.text(op.name), path_of(profile_, profile_.spans.unit[longest_]),
                     rate > 0 ? fmt::format("{:.9g} us", double(recorded_) / rate * 1e6)
                              : fmt::format("{} ticks", recorded_)),
         cut_});
  }

 private:
  void note(std::uint32_t row, Interval interval) {
    profile_.add_measure(Measure::Subject::span, row, recorded_duration, Origin::measured,
                         profile_.base_clock, double(length_of(interval)));
    cut_ += 1;
    if (length_of(interval) <= recorded_) return;
    recorded_ = length_of(interval);
    longest_ = row;
  }

  Profile& profile_;
  std::int64_t tolerance_;
  std::uint64_t cut_ = 0;
  std::int64_t recorded_ = -1;
  std::uint32_t longest_ = 0;
};

std::uint32_t track_of(const Profile& profile, UnitId unit) {
  const std::size_t units = profile.units.size();
  if (index_of(unit) >= units) return index_of(UnitId::none);
  const Unit& of = profile.units[index_of(unit)];
  const bool is_lane = of.engine == Engine::thread && of.lane > 0 && index_of(of.parent) < units;
  return index_of(is_lane ? of.parent : unit);
}

// Whether on some track a span begins before the one before it in the profile has ended, as in few.
bool any_overlap(const Profile& profile, const std::function<bool(std::size_t)>& is_in_order) {
  const Spans& spans = profile.spans;
  std::vector<std::int64_t> ends(profile.units.size(), std::numeric_limits<std::int64_t>::min());
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const SpanKind kind = spans.kind[row];
    const bool on_device =
        kind == SpanKind::kernel || kind == SpanKind::copy || kind == SpanKind::communication;
    if (!on_device || !is_in_order(row)) continue;
    const std::uint32_t track = track_of(profile, spans.unit[row]);
    if (track >= ends.size()) continue;
    const Interval interval = interval_of(spans, row);
    if (interval.begin < ends[track]) return true;
    ends[track] = interval.end;
  }
  return false;
}

}  // namespace

void cut_in_order(Profile& profile, const std::function<bool(std::size_t)>& is_in_order) {
  if (!any_overlap(profile, is_in_order)) return;
  const Spans& spans = profile.spans;
  std::vector<InOrder> all;
  for (std::uint32_t row = 0; row < spans.size(); ++row) {
    const std::uint32_t track = track_of(profile, spans.unit[row]);
    if (track >= profile.units.size() || index_of(spans.op[row]) >= profile.ops.size()) continue;
    if (is_in_order(row)) all.push_back({track, row, interval_of(spans, row)});
  }
  std::sort(all.begin(), all.end(), [](const InOrder& a, const InOrder& b) {
    return std::tuple(a.track, a.interval.begin, b.interval.end, a.row) <
           std::tuple(b.track, b.interval.begin, a.interval.end, b.row);
  });
  Cutting cutting(profile);
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::find_if(first, all.end(),
                                   [&](const InOrder& span) { return span.track != first->track; });
    const std::span of_track(first, last);
    const std::size_t before = profile.measures.size();
    cutting.cut(of_track);
    if (profile.measures.size() > before) cutting.move_back(of_track);
    first = last;
  }
  cutting.finish();
}

}  // namespace npuscope
