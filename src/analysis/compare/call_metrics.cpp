#include "analysis/compare/samples_held.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/call_names.hpp"
#include "analysis/inference_times.hpp"
#include "analysis/latency.hpp"
#include "base/sort_rows.hpp"

namespace npuscope::analysis {
namespace {

// Where a call's time on the host or the device may be found, the most telling first: of the
// device, the innermost.
std::vector<CallLayerName> sources_at(CallLayerName::Place place) {
  std::vector<CallLayerName> sources;
  for (const std::vector<CallLayerName>& layers : known_calls()) {
    const auto first = sources.end() - sources.begin();
    for (const CallLayerName& layer : layers) {
      if (layer.place == place) sources.push_back(layer);
    }
    if (place == CallLayerName::Place::device) std::reverse(sources.begin() + first, sources.end());
  }
  return sources;
}

// A unit of which the profile says that it is of the device.
bool is_on_device(Engine engine) {
  switch (engine) {
    case Engine::none:
    case Engine::host:
    case Engine::process:
    case Engine::thread: return false;
    default: return true;
  }
}

class CallMetrics {
 public:
  CallMetrics(const Profile& profile, const Inferences& inferences,
              const std::vector<Metric>& known, const TimeBase& base)
      : profile_(profile), inferences_(inferences), known_(known), base_(base) {}

  std::vector<Metric> run() {
    const Latency latency = analyse_latency(profile_);
    const bool is_latency_file = !latency.rows.empty() && latency.rows.front().samples > 0;
    add_latency(is_latency_file);
    add_device(is_latency_file);
    add_throughput(latency);
    for (std::size_t i = 0; i < latency_percentiles.size(); ++i) {
      add_known(fmt::format("p{:g}", latency_percentiles[i]),
                known(NumberRole::total_round_trip, statistic_of_percentile(i)));
    }
    return std::move(made_);
  }

 private:
  const Metric* known(std::string_view name) const {
    const auto found = std::find_if(known_.begin(), known_.end(),
                                    [&](const Metric& metric) { return metric.name == name; });
    return found == known_.end() || found->samples.empty() ? nullptr : &*found;
  }
  const Metric* known(NumberRole role, Statistic statistic) const {
    for (const Metric& metric : known_) {
      const bool is_it = metric.meaning.role == role && metric.meaning.statistic == statistic;
      if (is_it) return metric.samples.empty() ? nullptr : &metric;
    }
    return nullptr;
  }
  const Metric* known(const CallLayerName& layer) const {
    if (layer.form != CallLayerName::Form::phase) return known(layer.role, layer.statistic);
    return known(fmt::format("phase('{}')", layer.phase));
  }
  const Metric* made(std::string_view name) const {
    const auto found = std::find_if(made_.begin(), made_.end(),
                                    [&](const Metric& metric) { return metric.name == name; });
    return found == made_.end() ? nullptr : &*found;
  }

  bool add_known(std::string_view name, const Metric* metric) {
    if (metric == nullptr) return false;
    Metric copy = *metric;
    copy.source = std::move(copy.name);
    copy.name = name;
    copy.of_run = false;  // a length or a rate: runs of different lengths compare
    made_.push_back(std::move(copy));
    return true;
  }

  Metric& add_time(std::string name, std::string source) {
    made_.push_back({std::move(name),
                     MeasureKind::wall,
                     SampleQuantity::time,
                     base_,
                     {},
                     false,
                     std::move(source)});
    return made_.back();
  }

  void add_latency(bool is_latency_file) {
    if (is_latency_file) return add_round_trips();
    for (const CallLayerName& source : sources_at(CallLayerName::Place::host)) {
      if (add_known("latency", known(source))) return;
    }
    if (profile_.provenance.inferences == 0) return;
    if (StepTimes steps = step_times(profile_); !steps.samples.empty()) {
      add_time("latency", "steps of the trace").samples = std::move(steps.samples);
      return;
    }
    // A timeline of both counts as the host's view where inferences are known.
    const bool has_host = std::any_of(profile_.units.begin(), profile_.units.end(),
                                      [](const Unit& unit) { return unit.engine == Engine::host; });
    if (!has_host) return;  // which saves looking at all spans
    bool host = false, device = false;
    for (const UnitId unit : profile_.spans.unit) {
      if (index_of(unit) >= profile_.units.size()) continue;
      const Engine engine = profile_.units[index_of(unit)].engine;
      host = host || engine == Engine::host;
      device = device || is_on_device(engine);
      if (host && device) break;
    }
    if (host && device) add_known("latency", known("wall"));
  }

  // Those while the host fills its queue say nothing of the rest, unless there is no rest.
  void add_round_trips() {
    const std::vector<bool> beginning = samples_of_beginning(profile_);
    const bool all = std::find(beginning.begin(), beginning.end(), false) == beginning.end();
    const bool is_of_runner = profile_.spans.measure(NumberRole::host_round_trip) != nullptr;
    const auto duration = [&](std::size_t row) -> std::optional<std::int64_t> {
      if (beginning[row] && !all) return std::nullopt;
      return profile_.spans.duration[row];
    };
    add_rows("latency", is_of_runner ? "total round trip" : "inference", duration);
  }

  // A value for each row of a latency file, in the order of inferences.
  void add_rows(const char* name, const char* source, auto value_of) {
    Metric& metric = add_time(name, source);
    for (std::size_t row = 0; row < profile_.spans.size(); ++row) {
      const std::uint32_t inference = inferences_.of(row);
      const std::optional<std::int64_t> value = value_of(row);
      if (!value || inference == Inferences::none) continue;
      metric.samples.push_back({inferences_.ids()[inference], double(*value)});
    }
    sort_rows(metric.samples.begin(), metric.samples.end(),
              [](const Sample& a, const Sample& b) { return a.inference < b.inference; });
    if (metric.samples.empty()) made_.pop_back();
  }

  void add_device(bool is_latency_file) {
    if (is_latency_file) return add_device_column();
    for (const CallLayerName& source : sources_at(CallLayerName::Place::device)) {
      if (add_known("device_latency", known(source))) return;
    }
    add_device_extent();
  }

  void add_device_column() {
    const MeasureColumn* column = profile_.spans.measure(NumberRole::device_execution);
    if (column == nullptr) return;
    const std::string name(profile_.text(column->what));
    add_rows("device_latency", name.c_str(), [&](std::size_t row) -> std::optional<std::int64_t> {
      const std::int64_t value = column->values[row];
      return value == MeasureColumn::missing ? std::nullopt : std::optional(value);
    });
  }

  // From the first start to the last end of what units of the device did in each inference.
  void add_device_extent() {
    const Spans& spans = profile_.spans;
    std::vector<std::optional<Interval>> extents(inferences_.count());
    bool all_on_device = true;
    for (std::size_t row = 0; row < spans.size(); ++row) {
      const std::uint32_t inference = inferences_.of(row);
      const std::size_t unit = index_of(spans.unit[row]);
      if (inference == Inferences::none || !is_of_inference(spans.kind[row])) continue;
      const Engine engine =
          unit < profile_.units.size() ? profile_.units[unit].engine : Engine::none;
      if (!is_on_device(engine)) {
        all_on_device = false;
        continue;
      }
      const Interval interval = interval_of(spans, row);
      auto& extent = extents[inference];
      if (!extent) extent = interval;
      extent->begin = std::min(extent->begin, interval.begin);
      extent->end = std::max(extent->end, interval.end);
    }
    if (std::none_of(extents.begin(), extents.end(), [](const auto& at) { return at.has_value(); }))
      return;
    if (all_on_device) {
      add_known("device_latency", known("wall"));
      return;
    }
    Metric& metric = add_time("device_latency", "first start to last end on the device");
    for (std::size_t i = 0; i < extents.size(); ++i) {
      if (extents[i])
        metric.samples.push_back({inferences_.ids()[i], double(length_of(*extents[i]))});
    }
  }

  void add_throughput(const Latency& latency) {
    if (!stated_rate_is_cold() &&
        add_known("throughput", known(NumberRole::run_rate, Statistic::none))) {
      return;
    }
    if (latency.throughput) {
      const double batch = latency.throughput->batch > 0 ? latency.throughput->batch : 1;
      add_rate("by round trips and queue depth").samples = {
          {every_instance, latency.throughput->system * batch}};
      return;
    }
    for (const char* name : {"latency", "device_latency"}) {
      const Metric* time = made(name);
      if (time == nullptr || !(time->time.hertz > 0)) continue;
      std::vector<Sample> samples;
      for (const Sample& sample : time->samples) {
        if (sample.value > 0) {
          samples.push_back({sample.inference, time->time.hertz / sample.value});
        }
      }
      if (samples.empty()) continue;
      Metric& rate = add_rate(fmt::format("1 / {}", name));
      rate.samples = std::move(samples);
      rate.derived = true;
      return;
    }
  }

  // A summary of one traced inference states the rate of that one, which is a cold one; the calls
  // after it say more.
  bool stated_rate_is_cold() {
    using Temperature = Provenance::Temperature;
    const Temperature temperature = profile_.provenance.temperature;
    const Metric* calls = made("latency");
    return (temperature == Temperature::cold || temperature == Temperature::cold_then_warm) &&
           calls != nullptr && calls->samples.size() > 1;
  }

  Metric& add_rate(std::string source) {
    made_.push_back({"throughput",
                     MeasureKind::count,
                     SampleQuantity::count,
                     {},
                     {},
                     false,
                     std::move(source)});
    return made_.back();
  }

  const Profile& profile_;
  const Inferences& inferences_;
  const std::vector<Metric>& known_;
  const TimeBase base_;
  std::vector<Metric> made_;
};

}  // namespace

std::vector<Metric> call_metrics(const Profile& profile, const Inferences& inferences,
                                 const std::vector<Metric>& known, const TimeBase& base) {
  return CallMetrics(profile, inferences, known, base).run();
}

std::vector<std::string_view> call_layers(const std::vector<Metric>& metrics) {
  std::vector<std::string_view> names;
  for (const std::vector<CallLayerName>& layers : known_calls()) {
    if (std::none_of(layers.begin(), layers.end(), [](const CallLayerName& layer) {
          return layer.place == CallLayerName::Place::between;
        })) {
      continue;
    }
    for (const CallLayerName& layer : layers) {
      const bool nests = layer.form == CallLayerName::Form::number;
      if (!nests || layer.place == CallLayerName::Place::host) continue;
      for (const Metric& metric : metrics) {
        if (layer.is(metric.meaning)) names.push_back(metric.name);
      }
    }
  }
  return names;
}

}  // namespace npuscope::analysis
