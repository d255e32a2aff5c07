// Hardware counters as tracks of a trace: what each core's counters had counted by when. From level
// 100 an operator's counts are known when it ends; below, only what an inference counted in all.
#include <algorithm>

#include "formats/qaic/opstats/opstats_trace_layout.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"

namespace npuscope::qaic {
namespace {

struct Counts {
  std::vector<std::pair<std::int64_t, double>> by_op;  // end in ticks, count
  double total = 0;                                    // of the threads
};
using CountsOfCore = std::map<std::string, Counts, std::less<>>;  // by name

struct Bounds {
  std::int64_t begin = 0, end = 0;  // ticks
};

std::map<std::uint32_t, Bounds> inferences_of_cores(const Profile& profile) {
  std::map<std::uint32_t, Bounds> bounds;
  for (std::size_t i = 0; i < profile.spans.size(); ++i) {
    const Unit& unit = profile.units[index_of(profile.spans.unit[i])];
    if (unit.engine != Engine::core || profile.spans.kind[i] != SpanKind::inference) continue;
    const std::int64_t start = profile.spans.start[i];
    bounds[unit.core] = {start, start + profile.spans.duration[i]};
  }
  return bounds;
}

// By core.
std::map<std::uint32_t, CountsOfCore> counts_of(const Profile& profile) {
  std::map<std::uint32_t, CountsOfCore> counts;
  for (const Measure& measure : profile.measures) {
    const NumberRole role = measure.meaning.role;
    const bool is_ddr = role == NumberRole::ddr_read || role == NumberRole::ddr_write;
    if (!is_ddr && role != NumberRole::pmu_event) continue;
    const std::string_view what = profile.text(measure.what);
    if (measure.subject == Measure::Subject::unit) {
      const Unit& unit = profile.units[measure.subject_id];
      counts[unit.core][std::string(what)].total += measure.value;
    } else if (measure.subject == Measure::Subject::span) {
      const std::size_t row = measure.subject_id;
      const Unit& unit = profile.units[index_of(profile.spans.unit[row])];
      counts[unit.core][std::string(what)].by_op.emplace_back(
          profile.spans.start[row] + profile.spans.duration[row], measure.value);
    }
  }
  return counts;
}

}  // namespace

void TraceLayout::add_series(const Profile& profile) {
  const auto bounds = inferences_of_cores(profile);
  for (auto& [core, counters] : counts_of(profile)) {
    const auto inference = bounds.find(core);
    if (inference == bounds.end() || !is_selected(profile, core)) continue;
    for (auto& [name, counts] : counters) {
      TraceSeries series{name, name.starts_with("ddr") ? "bytes" : "count", {}};
      series.samples.emplace_back(nanoseconds(inference->second.begin), 0);
      if (counts.by_op.empty()) {
        counts.by_op.emplace_back(inference->second.end, counts.total);
      }
      std::sort(counts.by_op.begin(), counts.by_op.end());
      double running = 0;
      for (const auto& [end, count] : counts.by_op) {
        running += count;
        const std::int64_t time = nanoseconds(end);
        if (series.samples.back().first == time) {
          series.samples.back().second = running;
        } else if (count > 0) {
          series.samples.emplace_back(time, running);
        }
      }
      processes_[process_of(profile, core)].series.push_back(std::move(series));
    }
  }
}

}  // namespace npuscope::qaic
