#include "formats/sigmastar/write_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/text.hpp"
#include "formats/sigmastar/bit_fields.hpp"
#include "formats/sigmastar/core_agreement.hpp"
#include "formats/sigmastar/layer_keys.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::sigmastar {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;
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

class TimelineWriter {
 public:
  TimelineWriter(const IpuTimeline& timeline, const TimelineWriting& options,
                 const std::function<void(std::string_view)>& sink)
      : timeline_(timeline), options_(options), sink_(sink) {}

  void write() {
    std::string chip;
    append_json_escaped(chip, options_.chip);
    put(R"({{"otherData":{{"writer":"ipu timeline","chip":"{}","mhz":{}{}}},"traceEvents":[)", chip,
        timeline_.hertz / 1e6,
        timeline_.is_incomplete ? fmt::format(R"(,"{}":true)", incomplete_key) : "");
    for (std::size_t i = 0; i < timeline_.cores.size(); ++i) write_core(i);
    if (timeline_.control) write_control(*timeline_.control);
    if (!options_.layers_only) write_arrows();
    put("\n]}}\n");
    sink_({out_.data(), out_.size()});
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), text, std::forward<Args>(args)...);
    if (out_.size() < piece_bytes) return;
    sink_({out_.data(), out_.size()});
    out_.clear();
  }

  void begin_event() {
    put("{}", any_ ? ",\n" : "\n");
    any_ = true;
  }

  std::int64_t nanoseconds(std::int64_t cycles) const {
    const double exact = double(cycles) / timeline_.hertz * 1e9;
    return std::llround(std::clamp(exact, 0.0, max_nanoseconds));
  }

  // Both ends are rounded, so that what follows one another does not overlap.
  void put_times(std::int64_t begin, std::int64_t end) {
    const std::int64_t from = nanoseconds(begin);
    const std::int64_t length = nanoseconds(end) - from;
    put(R"("ts":{}.{:03},"dur":{}.{:03})", from / 1000, from % 1000, length / 1000, length % 1000);
  }

  void put_name(std::string_view what, std::uint32_t process, int thread, std::string_view name) {
    begin_event();
    put(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":"{}"}}}})", what, process,
        thread, name);
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
    begin_event();
    put(R"({{"ph":"X","name":"layer {}","pid":{},"tid":0,)", layer.layer, core);
    put_times(layer.begin, layer.end);
    const std::int64_t total = length_of({layer.begin, layer.end});
    put(R"(,"args":{{"index":{},"total_cycle":{})", layer.layer, total);
    const auto put_percent = [&](const char* key, LogEngine engine) {
      const double share = double(layer.busy[std::size_t(engine)]) / double(total);
      if (total > 0) put(R"(,"{}_cycle_percent":{:.3f})", key, 100 * share);
    };
    put_percent("conv", LogEngine::conv);
    put_percent("vector", LogEngine::vector);
    put_percent("dma_load", LogEngine::dma_load);
    put_percent("dma_store", LogEngine::dma_store);
    put("}}}}");
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
      begin_event();
      put(R"({{"ph":"X","name":"{}","pid":{},"tid":{},)", name, process, engine);
      put_times(each.begin, each.end);
      if (each.bytes > 0) put(R"(,"args":{{"bytes":{}}})", each.bytes);
      if (is_inference) put(R"(,"args":{{"{}":{}}})", inference_key, each.layer);
      put("}}");
    }
  }

  void write_control(const CoreLog& log) {
    put_name("process_name", control_process, 0, "corectrl");
    write_engines(control_process, log);
  }

  void put_arrow_end(char phase, std::size_t id, LogPlace place, EdgeRule rule) {
    const LogInterval& interval = timeline_.cores[place.log].intervals[place.interval];
    const std::int64_t begin = nanoseconds(interval.begin), end = nanoseconds(interval.end);
    // Within the slice, at its end: what ends there may be followed by another at once.
    const std::int64_t at = phase == 's' ? std::max(begin, end - 1) : begin;
    begin_event();
    put(R"({{"ph":"{}",{}"id":{},"name":"{}","cat":"waits","pid":{},"tid":{},"ts":{}.{:03}}})",
        phase, phase == 'f' ? R"("bp":"e",)" : "", id, name_of(rule),
        timeline_.core_numbers[place.log], int(interval.engine), at / 1000, at % 1000);
  }

  void write_arrows() {
    const auto& edges = timeline_.waits.edges;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      put_arrow_end('s', i, edges[i].from, edges[i].rule);
      put_arrow_end('f', i, edges[i].to, edges[i].rule);
    }
  }

  const IpuTimeline& timeline_;
  const TimelineWriting& options_;
  const std::function<void(std::string_view)>& sink_;
  fmt::memory_buffer out_;
  bool any_ = false;
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
