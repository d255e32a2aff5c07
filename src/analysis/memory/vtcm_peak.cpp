#include "analysis/memory/vtcm_peak.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace npuscope::analysis {
namespace {

void take(std::vector<VtcmPeak>& peaks, VtcmPeak found) {
  if (!std::isfinite(found.bytes) || found.bytes < 0) return;
  const auto known = std::find_if(peaks.begin(), peaks.end(),
                                  [&](const VtcmPeak& peak) { return peak.by == found.by; });
  if (known == peaks.end()) {
    peaks.push_back(std::move(found));
  } else if (found.bytes > known->bytes) {
    *known = std::move(found);
  }
}

}  // namespace

std::vector<VtcmPeak> vtcm_peaks(const Profile& profile) {
  std::vector<VtcmPeak> peaks;
  const Counters& counters = profile.counters;
  std::vector<std::optional<double>> max(counters.series.size());
  for (std::size_t i = 0; i < counters.size(); ++i) {
    if (counters.of[i] >= max.size()) continue;
    auto& value = max[counters.of[i]];
    value = std::max(value.value_or(counters.value[i]), counters.value[i]);
  }
  for (std::size_t i = 0; i < max.size(); ++i) {
    const CounterSeries& series = counters.series[i];
    if (!max[i] || series.role != NumberRole::vtcm_allocated) continue;
    take(peaks, {std::string(profile.text(series.name)), series.unit, Origin::counter, *max[i]});
  }
  for (const Measure& measure : profile.measures) {
    if (measure.meaning.role != NumberRole::vtcm_peak) continue;
    const bool of_unit =
        measure.subject == Measure::Subject::unit && measure.subject_id < profile.units.size();
    take(peaks,
         {std::string(profile.text(measure.what)),
          of_unit ? UnitId(measure.subject_id) : UnitId::none, measure.origin, measure.value});
  }
  return peaks;
}

}  // namespace npuscope::analysis
