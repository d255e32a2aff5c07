// Counters, instants and asynchronous events of an operator trace, mostly of the host.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/sort_rows.hpp"
#include "formats/qaic/opstats/opstats_arguments.hpp"
#include "formats/qaic/opstats/opstats_reader.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"
#include "profile/number_names.hpp"
#include "profile/shared_numbers.hpp"

namespace npuscope::qaic {
namespace {

class MarkReader {
 public:
  MarkReader(const chrome::Marks& marks, const std::vector<chrome::Thread>& threads,
             const OpstatsTracks& tracks, std::int64_t origin, Profile& profile)
      : marks_(marks), threads_(threads), tracks_(tracks), origin_(origin), profile_(profile) {}

  void run() {
    for (std::uint32_t mark = 0; mark < marks_.size(); ++mark) {
      switch (marks_.phase[mark]) {
        case 's':
        case 't':
        case 'f': break;  // flows
        case 'C': add_counter(mark); break;
        case 'i':
        case 'I':
        case 'R': add_span(mark, SpanKind::instant, 0); break;
        case 'n': add_span(mark, SpanKind::instant, 0); break;
        case 'b':
        case 'S': open_[key_of(mark)].push_back(mark); break;
        case 'e':
        case 'F': close(mark); break;
        default: left_out_ += 1;
      }
    }
    for (const auto& [key, marks] : open_) unpaired_ += marks.size();
    add_totals();
    note(left_out_, "events of kinds that operator traces do not have; left out");
    note(unpaired_, "asynchronous events without a begin or end; left out");
  }

 private:
  using AsyncKey = std::tuple<StringId, StringId, StringId>;

  void note(std::uint64_t count, std::string message) {
    if (count > 0) {
      profile_.notes.push_back({Severity::warning, "", 0, std::move(message), count});
    }
  }
  AsyncKey key_of(std::uint32_t mark) const {
    return {threads_[marks_.thread[mark]].process_id, marks_.category[mark], marks_.id[mark]};
  }
  std::int64_t time_of(std::uint32_t mark) const { return origin_ + ticks_of(marks_.time[mark]); }

  void close(std::uint32_t mark) {
    const auto found = open_.find(key_of(mark));
    if (found == open_.end() || found->second.empty()) {
      unpaired_ += 1;
      return;
    }
    const std::uint32_t begin = found->second.back();
    found->second.pop_back();
    add_span(begin, SpanKind::async, std::max<std::int64_t>(time_of(mark) - time_of(begin), 0));
  }

  OpId op_of(std::uint32_t mark) {
    const auto [found, is_new] =
        ops_.try_emplace({marks_.name[mark], marks_.category[mark]}, OpId::none);
    if (is_new) {
      Op op;
      op.name = marks_.name[mark];
      op.kind = marks_.category[mark];
      found->second = OpId(profile_.ops.size());
      profile_.ops.push_back(op);
    }
    return found->second;
  }

  void add_span(std::uint32_t mark, SpanKind kind, std::int64_t duration) {
    Spans& spans = profile_.spans;
    spans.add(tracks_.of_thread[marks_.thread[mark]].unit, op_of(mark), kind, time_of(mark),
              duration);
    spans.processor_cycles.push_back(-1);
    if (!spans.instance.empty()) spans.instance.push_back(0);
    add_arguments(mark);
  }

  void add_arguments(std::uint32_t mark) {
    Arguments& kept = profile_.spans.arguments;
    const std::size_t count = marks_.arguments.count(mark);
    const std::size_t rows = profile_.spans.size();
    if (count == 0) return kept.resize(rows);
    const std::uint32_t shape = marks_.arguments.shape(mark);
    const auto [found, is_new] = shapes_.try_emplace(shape, std::uint32_t(kept.shapes.size()));
    if (is_new) kept.shapes.push_back(marks_.arguments.shapes[shape]);
    marks_.arguments.read(mark, values_);
    kept.add(rows - 1, found->second, values_);
  }

  // Of a PMU event by its code alone ("pmu 0x70") the name that it has elsewhere.
  StringId series_name(std::uint32_t mark) {
    const StringId name = marks_.name[mark];
    const auto event = measure::event_of_pmu(profile_.text(name));
    return event ? profile_.strings.intern(measure::pmu(*event)) : name;
  }

  static bool is_total(NumberRole role) {
    return role == NumberRole::ddr_read || role == NumberRole::ddr_write ||
           role == NumberRole::pmu_event;
  }
  // What our own traces name so is a running total; other counters say no more than a name.
  void add_series(UnitId unit, StringId name, StringId part) {
    const std::string_view text = profile_.text(name);
    CounterSeries series{unit, name, part, {}, role_of_counter(text)};
    if (text == ddr_read_bytes.name || text == ddr_write_bytes.name ||
        measure::event_of_pmu(text)) {
      series.role = number_named(MeasureKind::count, text).meaning.role;
    }
    profile_.counters.series.push_back(series);
  }

  // Each argument is a series.
  void add_counter(std::uint32_t mark) {
    const ArgumentValues values(marks_.arguments, mark, profile_.strings);
    const OpstatsTrack& track = tracks_.of_thread[marks_.thread[mark]];
    const UnitId unit = track.core != UnitId::none ? track.core : track.unit;
    for (std::uint32_t place = 0; place < marks_.arguments.count(mark); ++place) {
      const auto value = values.number(place);
      if (!value || !std::isfinite(*value)) {
        left_out_ += 1;
        continue;
      }
      const StringId part = marks_.arguments.at(mark, place).key.name;
      const auto [found, is_new] = series_.try_emplace(
          {unit, marks_.name[mark], part}, std::uint32_t(profile_.counters.series.size()));
      if (is_new) add_series(unit, series_name(mark), part);
      profile_.counters.of.push_back(found->second);
      profile_.counters.time.push_back(time_of(mark));
      profile_.counters.value.push_back(*value);
    }
  }

  // What hardware counted of a core is a running total of each inference: its numbers too.
  void add_totals() {
    const Counters& counters = profile_.counters;
    find_inferences();
    std::vector<std::vector<std::uint32_t>> samples(counters.series.size());
    for (std::uint32_t i = 0; i < counters.size(); ++i) samples[counters.of[i]].push_back(i);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const CounterSeries& series = counters.series[i];
      if (!is_total(series.role) || series.unit == UnitId::none) continue;
      sort_rows(samples[i].begin(), samples[i].end(), [&](std::uint32_t a, std::uint32_t b) {
        return counters.time[a] < counters.time[b];
      });
      for (std::size_t at = 0; at < samples[i].size(); ++at) {
        const bool is_last = at + 1 == samples[i].size() ||
                             counters.value[samples[i][at + 1]] < counters.value[samples[i][at]];
        if (is_last) add_total(series, samples[i][at]);
      }
    }
  }

  void add_total(const CounterSeries& series, std::uint32_t sample) {
    const Counters& counters = profile_.counters;
    profile_.add_measure(Measure::Subject::unit, index_of(series.unit),
                         number_named(MeasureKind::count, profile_.text(series.name)),
                         Origin::counter, ClockId{}, counters.value[sample],
                         inference_at(series.unit, counters.time[sample]));
  }

  struct Inference {
    UnitId core;
    std::int64_t begin, end;
    std::uint32_t number;
  };
  void find_inferences() {
    const Spans& spans = profile_.spans;
    for (std::size_t row = 0; row < spans.instance.size(); ++row) {
      if (spans.kind[row] != SpanKind::inference) continue;
      inferences_.push_back({spans.unit[row], spans.start[row],
                             spans.start[row] + spans.duration[row], spans.instance[row]});
    }
  }

  // Times in the file are rounded to nanoseconds, those of spans to ticks.
  std::uint32_t inference_at(UnitId core, std::int64_t time) const {
    for (const Inference& each : inferences_) {
      if (each.core == core && each.begin <= time && time <= each.end + 1) return each.number;
    }
    return every_instance;
  }

  const chrome::Marks& marks_;
  const std::vector<chrome::Thread>& threads_;
  const OpstatsTracks& tracks_;
  std::int64_t origin_;
  Profile& profile_;
  std::map<AsyncKey, std::vector<std::uint32_t>> open_;
  std::map<std::pair<StringId, StringId>, OpId> ops_;
  std::map<std::uint32_t, std::uint32_t> shapes_;
  std::vector<std::uint64_t> values_;  // of a row
  std::map<std::tuple<UnitId, StringId, StringId>, std::uint32_t> series_;
  std::vector<Inference> inferences_;
  std::uint64_t left_out_ = 0;
  std::uint64_t unpaired_ = 0;
};

}  // namespace

void add_opstats_marks(const chrome::Marks& marks, const std::vector<chrome::Thread>& threads,
                       const OpstatsTracks& tracks, std::int64_t origin, Profile& profile) {
  MarkReader(marks, threads, tracks, origin, profile).run();
}

}  // namespace npuscope::qaic
