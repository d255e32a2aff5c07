#include "formats/torq/profile/schedule_numbers.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "formats/torq/profile/npu_target.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::torq {
namespace {

constexpr NamedNumber lram_peak =
    NamedNumber{"LRAM bytes in use", NumberQuantity::bytes, NumberRole::vtcm_peak}.not_additive();

constexpr NamedNumber lram_size =
    NamedNumber{"LRAM bytes", NumberQuantity::bytes, NumberRole::vtcm_size}.not_additive();
constexpr std::int64_t lram_of_sl2610 = std::int64_t{512} << 10;

struct LramUse {
  std::int64_t peak_bytes = 0;
  std::int64_t kept_bytes = 0;  // that one kernel leaves to another, and no transfer touches
};

// A buffer is in use from the first task that names it to the last.
LramUse lram_use_of(const DispatchInfo& dispatch) {
  LramUse use;
  std::vector<std::pair<std::uint32_t, std::int64_t>> changes;
  for (const LramBuffer& buffer : dispatch.lram) {
    const std::int64_t bytes = length_of(buffer.address);
    changes.emplace_back(buffer.first_task, bytes);
    changes.emplace_back(buffer.last_task + 1, -bytes);
    if (buffer.kernels > 1 && buffer.transfers == 0) {
      use.kept_bytes = saturating_add(use.kept_bytes, bytes);
    }
  }
  std::sort(changes.begin(), changes.end());  // what ends goes before what begins
  std::int64_t now = 0;
  for (const auto& [task, change] : changes) {
    now = saturating_add(now, change);
    use.peak_bytes = std::max(use.peak_bytes, now);
  }
  return use;
}

}  // namespace

void add_overlap_numbers(Profile& profile) {
  std::vector<Interval> moving, computing;
  const Spans& spans = profile.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const Interval at{spans.start[row], saturating_add(spans.start[row], spans.duration[row])};
    (spans.kind[row] == SpanKind::transfer ? moving : computing).push_back(at);
  }
  const IntervalSet moves = union_of(std::move(moving)), computes = union_of(std::move(computing));
  const std::int64_t hidden = length_of(intersection_of(moves, computes));
  const auto add = [&](const NamedNumber& number, std::int64_t cycles) {
    profile.add_measure(Measure::Subject::profile, 0, number, Origin::estimated, profile.base_clock,
                        double(cycles));
  };
  add({"DMA behind compute", MeasureKind::active, NumberRole::hidden_transfer}, hidden);
  add({"exposed DMA", MeasureKind::active, NumberRole::exposed_transfer},
      length_of(moves) - hidden);
}

void add_memory_numbers(Profile& profile, std::span<const DispatchInfo* const> dispatches) {
  std::int64_t blocks = 0;
  LramUse all;
  for (const DispatchInfo* dispatch : dispatches) {
    for (const UnitWork& work : dispatch->work) blocks += work.fetches_code && work.cycles;
    const LramUse use = lram_use_of(*dispatch);
    all.peak_bytes = std::max(all.peak_bytes, use.peak_bytes);
    all.kept_bytes = saturating_add(all.kept_bytes, use.kept_bytes);
  }
  const auto add = [&](const NamedNumber& number, std::int64_t value) {
    profile.add_measure(Measure::Subject::profile, 0, number, Origin::estimated, profile.base_clock,
                        double(value));
  };
  add({"NSS code blocks fetched", NumberQuantity::count, NumberRole::code_fetches}, blocks);
  if (all.peak_bytes == 0) return;
  if (profile.provenance.device == sl2610) add(lram_size, lram_of_sl2610);
  add(lram_peak, all.peak_bytes);
  add({"bytes kept in LRAM between kernels", NumberQuantity::bytes, NumberRole::kept_on_chip},
      all.kept_bytes);
}

void add_estimated_schedule(Profile& measured, ClockId clock, const Profile& estimate) {
  std::vector<Interval> all;
  std::int64_t work = 0;
  const Spans& spans = estimate.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    all.push_back({spans.start[row], saturating_add(spans.start[row], spans.duration[row])});
    work = saturating_add(work, spans.duration[row]);
  }
  const IntervalSet active = union_of(std::move(all));
  if (active.empty()) return;
  const auto add = [&](const NamedNumber& number, double value) {
    measured.add_measure(Measure::Subject::profile, 0, number, Origin::estimated, clock, value);
  };
  add({"estimated wall", MeasureKind::wall, NumberRole::schedule_wall},
      double(active.back().end - active.front().begin));
  add({"estimated active", MeasureKind::active, NumberRole::schedule_active},
      double(length_of(active)));
  add({"estimated work", MeasureKind::work, NumberRole::schedule_work}, double(work));
  for (const Measure& each : estimate.measures) {
    if (each.subject != Measure::Subject::profile) continue;
    NamedNumber number(estimate.text(each.what), each.kind, each.meaning.role);
    number.meaning = each.meaning;
    add(number, each.value);
  }
}

}  // namespace npuscope::torq
