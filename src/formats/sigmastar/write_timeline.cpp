#include "formats/sigmastar/write_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text_output.hpp"
#include "formats/chrome/trace_events.hpp"
#include "formats/sigmastar/layer_pairing.hpp"
#include "formats/sigmastar/layer_rows.hpp"
#include "formats/sigmastar/log_layout.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::sigmastar {
namespace {

constexpr std::uint32_t control_process = 1000;  // beyond every core's number
constexpr double max_nanoseconds = 9e15;         // what the readers of such files take

void shift(CoreLog& log, std::int64_t by) {
  const auto moved = [by](std::int64_t time) { return saturating_add(time, by); };
  for (LogInterval& each : log.intervals) {
    each.begin = moved(each.begin);
    each.end = moved(each.end);
  }
  for (LogLayer& each : log.layers) {
    each.begin = moved(each.begin);
    each.end = moved(each.end);
  }
}

// By how much a log's first record is later than another's, the shorter way around the clock.
std::int64_t later_by(const CoreLog& log, const CoreLog& other, const LogLayout& layout) {
  const std::uint64_t mask = low_bits(layout.time.bits);
  const std::uint64_t ahead = (log.first_ticks - other.first_ticks) & mask;
  const std::int64_t ticks = ahead <= mask / 2
                                 ? std::int64_t(ahead)
                                 : -std::int64_t((other.first_ticks - log.first_ticks) & mask);
  constexpr std::int64_t max = std::int64_t{1} << 56;
  return std::clamp(ticks, -max / layout.cycles_per_tick, max / layout.cycles_per_tick) *
         layout.cycles_per_tick;
}

constexpr chrome::TraceStyle style{
    .events =
        {R"({"ph":?,"bp":?,"id":?,"name":?,"cat":?,"pid":?,"tid":?,"ts":?,"dur":?,"args":?})"},
    .time = chrome::TraceTime::thousandths};

class TimelineWriter {
 public:
  TimelineWriter(const IpuTimeline& timeline, const TimelineWriting& options,
                 const std::function<void(std::string_view)>& sink)
      : timeline_(timeline), options_(options), out_(sink), events_(out_) {}

  void write() {
    JsonWriter json(out_);
    json.begin_object();
    json.key("otherData");
    json.object([&] {
      json.member("writer", "ipu timeline");
      json.member("chip", options_.chip);
      json.member("mhz", timeline_.hertz / 1e6);
      if (timeline_.is_incomplete) json.member(incomplete_key, true);
    });
    json.key("traceEvents");
    json.begin_array();
    for (std::size_t i = 0; i < timeline_.cores.size(); ++i) write_core(i);
    if (timeline_.control) write_control(*timeline_.control);
    if (!options_.layers_only) write_arrows();
    events_.end();
  }

 private:
  std::int64_t nanoseconds(std::int64_t cycles) const {
    const double exact = double(cycles) / timeline_.hertz * 1e9;
    return std::llround(std::clamp(exact, 0.0, max_nanoseconds));
  }

  // Both ends are rounded, so that what follows one another does not overlap.
  chrome::TraceEvent slice(std::string_view name, std::uint32_t process, int thread,
                           Interval cycles) const {
    const std::int64_t from = nanoseconds(cycles.begin);
    return {.name = name,
            .process = process,
            .thread = thread,
            .time = from,
            .duration = nanoseconds(cycles.end) - from};
  }

  void put_name(std::string_view what, std::uint32_t process, int thread, std::string_view name) {
    events_.add(
        {.phase = chrome::TracePhase::metadata, .name = what, .process = process, .thread = thread},
        [&] { events_.json().member("name", name); });
  }

  void write_core(std::size_t place) {
    const CoreLog& log = timeline_.cores[place];
    const std::uint32_t core = timeline_.core_numbers[place];
    put_name("process_name", core, 0, fmt::format("core {}", core));
    put_name("thread_name", core, 0, name_of(LogEngine::layer));
    for (const LogLayer& layer : log.layers) put_layer(core, layer);
    if (!options_.layers_only) write_engines(core, log);
  }

  void put_layer(std::uint32_t core, const LogLayer& layer) {
    const std::int64_t total = length_of({layer.begin, layer.end});
    JsonWriter<TextOutput>& json = events_.json();
    const auto put_percent = [&](const char* key, LogEngine engine) {
      const double share = double(layer.busy[std::size_t(engine)]) / double(total);
      if (total <= 0) return;
      json.key(key);
      json.raw(fmt::format("{:.3f}", 100 * share));
    };
    const std::string name = fmt::format("layer {}", layer.layer);
    events_.add(slice(name, core, 0, {layer.begin, layer.end}), [&] {
      json.member("index", layer.layer);
      json.member("total_cycle", total);
      put_percent("conv_cycle_percent", LogEngine::conv);
      put_percent("vector_cycle_percent", LogEngine::vector);
      put_percent("dma_load_cycle_percent", LogEngine::dma_load);
      put_percent("dma_store_cycle_percent", LogEngine::dma_store);
    });
  }

  void write_engines(std::uint32_t process, const CoreLog& log) {
    std::array<bool, log_engine_count> named{};
    for (const LogInterval& each : log.intervals) {
      if (each.engine == LogEngine::layer) continue;
      const auto engine = int(each.engine);
      if (!named[std::size_t(engine)]) {
        named[std::size_t(engine)] = true;
        put_name("thread_name", process, engine, name_of(each.engine));
      }
      const bool is_inference = each.engine == LogEngine::run;
      const std::string name =
          is_inference ? std::string("inference") : fmt::format("layer {}", each.layer);
      events_.add(
          slice(name, process, engine, {each.begin, each.end}),
          [&] {
            if (each.bytes > 0) events_.json().member("bytes", each.bytes);
            if (is_inference) events_.json().member(inference_key, each.layer);
          },
          each.bytes > 0 || is_inference);
    }
  }

  void write_control(const CoreLog& log) {
    put_name("process_name", control_process, 0, "corectrl");
    write_engines(control_process, log);
  }

  void put_arrow_end(chrome::TracePhase phase, std::size_t id, LogPlace place, EdgeRule rule) {
    const LogInterval& interval = timeline_.cores[place.log].intervals[place.interval];
    const std::int64_t begin = nanoseconds(interval.begin), end = nanoseconds(interval.end);
    // Within the slice, at its end: what ends there may be followed by another at once.
    const bool leaves = phase == chrome::TracePhase::flow_begin;
    events_.add({.phase = phase,
                 .name = name_of(rule),
                 .category = "waits",
                 .process = timeline_.core_numbers[place.log],
                 .thread = int(interval.engine),
                 .id = id,
                 .time = leaves ? std::max(begin, end - 1) : begin});
  }

  void write_arrows() {
    const auto& edges = timeline_.waits.edges;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      put_arrow_end(chrome::TracePhase::flow_begin, i, edges[i].from, edges[i].rule);
      put_arrow_end(chrome::TracePhase::flow_end, i, edges[i].to, edges[i].rule);
    }
  }

  const IpuTimeline& timeline_;
  const TimelineWriting& options_;
  TextOutput out_;
  chrome::TraceEvents<style> events_;
};

}  // namespace

IpuTimeline join_logs(std::vector<CoreLog> cores, std::vector<std::uint32_t> core_numbers,
                      std::optional<CoreLog> control, const LogLayout& layout, double hertz) {
  IpuTimeline timeline{std::move(cores),
                       std::move(core_numbers),
                       std::move(control),
                       hertz,
                       layout.cores_share_clock,
                       {},
                       false};
  std::vector<CoreLog*> logs;
  for (CoreLog& log : timeline.cores) logs.push_back(&log);
  if (timeline.control) logs.push_back(&*timeline.control);
  if (logs.empty() || !timeline.related) return timeline;
  std::int64_t earliest = 0;
  std::vector<std::int64_t> later;
  for (const CoreLog* log : logs) {
    later.push_back(later_by(*log, *logs.front(), layout));
    earliest = std::min(earliest, later.back());
  }
  for (std::size_t i = 0; i < logs.size(); ++i) shift(*logs[i], later[i] - earliest);
  timeline.waits = find_tile_edges(timeline.cores, layout);
  return timeline;
}

Status check_one_run(const IpuTimeline& timeline) {
  const bool is_alone = timeline.cores.size() < 2 && !timeline.control;
  if (!timeline.related || is_alone) return {};
  std::vector<CoreLayer> layers;
  for (std::size_t i = 0; i < timeline.cores.size(); ++i) {
    for (const LogLayer& layer : timeline.cores[i].layers) {
      layers.push_back({layer.layer, timeline.core_numbers[i], layer.begin, layer.end});
    }
  }
  std::vector<Interval> inferences;
  if (timeline.control) {
    for (const LogInterval& each : timeline.control->intervals) {
      if (each.engine == LogEngine::run) inferences.push_back({each.begin, each.end});
    }
  }
  const IntervalSet logged = union_of(std::move(inferences));
  const auto outside = std::count_if(layers.begin(), layers.end(), [&](const CoreLayer& layer) {
    const auto next = std::partition_point(
        logged.begin(), logged.end(), [&](const Interval& each) { return each.end < layer.begin; });
    return next == logged.end() || next->begin > layer.end;
  });
  if (!logged.empty() && std::size_t(outside) * 2 > layers.size()) {
    return input_error(
        "{}: {} of the {} layers in the logs of the cores are in none of its inferences; name logs "
        "of one run",
        timeline.control->name, outside, layers.size());
  }
  const CoreAgreement agreement = compare_cores(std::move(layers));
  if (!agreement.are_of_two_runs()) return {};
  return input_error(
      "{}: {} of the {} layers that it shares with {} ran there at other times; name logs of one "
      "run of one model",
      timeline.cores.back().name, agreement.apart, agreement.shared, timeline.cores.front().name);
}

void write_timeline(const IpuTimeline& timeline, const TimelineWriting& options,
                    const std::function<void(std::string_view)>& sink) {
  TimelineWriter(timeline, options, sink).write();
}

}  // namespace npuscope::sigmastar
