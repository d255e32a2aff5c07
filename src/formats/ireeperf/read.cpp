#include "formats/ireeperf/read.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "base/text.hpp"
#include "formats/ireeperf/dispatch_name.hpp"
#include "ingest/units.hpp"
#include "profile/counted_notes.hpp"
#include "profile/line_reader.hpp"

namespace npuscope::ireeperf {
namespace {

using Json = simdjson::dom::object;

constexpr NamedNumber tile_time{"tile time, all workers", MeasureKind::work},
    tiles{"tiles", NumberQuantity::count}, in_queue{"time in the queue", MeasureKind::span},
    op_macs{"MACs", NumberQuantity::macs};
constexpr std::uint64_t known_schema = 15;

std::int64_t integer(const Json& record, std::string_view name, std::int64_t otherwise = 0) {
  std::int64_t value = 0;
  if (record[name].get(value) == simdjson::SUCCESS) return value;
  return otherwise;  // beyond 2^63 too: no time or number is so large
}
std::string_view text(const Json& record, std::string_view name) {
  std::string_view value;
  return record[name].get(value) == simdjson::SUCCESS ? value : std::string_view();
}
bool is_true(const Json& record, std::string_view name) {
  bool value = false;
  return record[name].get(value) == simdjson::SUCCESS && value;
}

struct Queue {
  std::int64_t device = 0, queue = 0, stream = 0;
  bool on_device = false;
  auto operator<=>(const Queue&) const = default;
};

using SubmissionId = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // session, device

// What ran, as a record tells it.
struct Execution {
  Queue queue;
  std::string operation, key;
  std::int64_t session = 0, submission = 0, buffer = 0, index = 0;
  std::int64_t begin = 0, end = 0;  // ns, or the device's ticks
  std::int64_t tile_count = 0, tile_ns = 0;
  std::optional<std::int64_t> queued_ns;
  bool is_placed = true;  // on the time axis
  bool is_again = false;  // of a dispatch that the device timed, too

  auto id() const { return std::tuple(session, queue.device, submission, buffer, index); }
  auto submitted() const { return std::tuple(session, queue.device, submission); }
};

// Two moments at which a device's ticks and the host's clock were read.
struct Correlation {
  std::int64_t tick = 0, host_ns = 0;
};

class Reader {
 public:
  Reader(ByteSource& source, const ProgressReport& progress)
      : source_(source), progress_(progress), losses_(source.name()) {}

  Result<Profile> read() {
    LineReader lines(source_, losses_,
                     {.longest_line = std::size_t{1} << 20, .max_bytes = std::uint64_t{8} << 30});
    std::string_view line;
    for (std::uint64_t count = 0; lines.next(line); ++count) {
      if (lines.offset() == 0) line = without_byte_order_mark(line);
      if (!trimmed(line).empty()) take(line, lines.offset());
      const bool reports = progress_ && count % 16'384 == 0;
      if (reports) progress_(source_.file_bytes_read(), source_.file_bytes());
    }
    if (executions_.empty()) {
      if (lines.error()) return tl::unexpected(*lines.error());
      return input_error(
          "{}: no record says what ran; record with "
          "--device_profiling_mode=host-execution (dispatch-events on devices)",
          source_.name());
    }
    if (!has_end_) {
      losses_.add(Severity::warning, 0, "the session has no end: the run or the export broke off");
    }
    place_on_host_clock();
    find_dispatches_of_devices();
    number_inferences();
    add_profile();
    losses_.append_to(profile_.notes);
    return std::move(profile_);
  }

 private:
  void take(std::string_view line, std::uint64_t offset) {
    Json record;
    if (parser_.parse(line.data(), line.size()).get(record) != simdjson::SUCCESS) {
      losses_.add(Severity::error, offset, "lines that are not JSON objects, left out");
      return;
    }
    const std::string_view type = text(record, "record_type");
    if (type == "host_execution_event") return take_execution(record, false);
    if (type == "dispatch_event" || type == "queue_device_event")
      return take_execution(record, true);
    if (type == "queue_event") return take_submission(record);
    if (type == "memory_event") return take_memory(record);
    if (type == "clock_correlation") return take_correlation(record);
    if (type == "executable_function") {
      functions_[{integer(record, "executable_id"), integer(record, "function_ordinal")}] =
          text(record, "name");
      return;
    }
    if (type == "session") return take_session(record);
    if (type == "schema") return take_schema(record);
    constexpr std::string_view described[] = {"device", "queue", "executable", "command_buffer",
                                              "command_operation"};
    if (std::ranges::find(described, type) != std::end(described)) return;
    losses_.add(Severity::info, offset,
                fmt::format("records of type {}, not read", printable(type)));
  }

  void take_schema(const Json& record) {
    const auto version = std::uint64_t(integer(record, "schema_version"));
    profile_.provenance.version = fmt::format("schema {}", version);
    if (version == known_schema) return;
    losses_.add(Severity::info, 0,
                fmt::format("schema version {}; npuscope knows {}, and reads what it has in common",
                            version, known_schema));
  }

  void take_session(const Json& record) {
    has_end_ = has_end_ || text(record, "event") == "end";
    if (text(record, "event") == "begin") ++sessions_;
    const std::string_view status = text(record, "session_status");
    if (status.empty() || status == "OK") return;
    losses_.add(Severity::error, 0, fmt::format("the session ended with {}", printable(status)));
  }

  static Queue queue_of(const Json& record, bool on_device) {
    return {integer(record, "physical_device_ordinal"), integer(record, "queue_ordinal"),
            integer(record, "stream_id"), on_device};
  }

  void take_execution(const Json& record, bool on_device) {
    if (!is_true(record, "valid")) {
      losses_.add(Severity::warning, 0, "executions that IREE itself calls invalid, left out");
      return;
    }
    if (integer(record, "status_code") != 0) {
      losses_.add(Severity::error, 0, "executions that failed");
    }
    Execution of;
    of.queue = queue_of(record, on_device);
    of.operation = text(record, "op").empty() ? "dispatch" : std::string(text(record, "op"));
    of.key = text(record, "key");
    of.session = sessions_;
    of.submission = integer(record, "submission_id");
    of.buffer = integer(record, "command_buffer_id");
    of.index = integer(record, "command_index");
    if (of.key.empty() && of.operation == "dispatch") {
      const auto known =
          functions_.find({integer(record, "executable_id"), integer(record, "function_ordinal")});
      if (known != functions_.end()) of.key = known->second;
    }
    of.begin = integer(record, on_device ? "start_tick" : "start_host_time_ns", -1);
    of.end = integer(record, on_device ? "end_tick" : "end_host_time_ns", -1);
    if (of.begin < 0 || of.end < of.begin) {
      losses_.add(Severity::error, 0, "executions without a time, left out");
      return;
    }
    of.tile_count = integer(record, "tile_count");
    of.tile_ns = integer(record, "tile_duration_sum_ns");
    of.is_placed = !on_device;
    executions_.push_back(std::move(of));
  }

  void take_submission(const Json& record) {
    if (text(record, "op") != "execute") return;
    submitted_.try_emplace(SubmissionId(sessions_, integer(record, "physical_device_ordinal"),
                                        integer(record, "submission_id")),
                           integer(record, "host_time_ns", -1));
  }

  void take_memory(const Json& record) {
    const std::string_view type = text(record, "event_type");
    const bool is_of_pool = type == "pool_reserve" || type == "pool_release";
    if (!is_of_pool || !is_true(record, "pool_stats_available")) return;
    const std::int64_t time = integer(record, "host_time_ns", -1);
    const std::int64_t reserved = integer(record, "pool_bytes_reserved", -1);
    if (time < 0 || reserved < 0) return;
    const auto [pool, is_new] =
        pools_.try_emplace(integer(record, "pool_id"), std::uint32_t(pools_.size()));
    samples_.push_back({time, pool->second, double(reserved)});
  }

  void take_correlation(const Json& record) {
    const std::int64_t tick = integer(record, "device_tick", -1);
    const std::int64_t begin = integer(record, "host_time_begin_ns", -1);
    const std::int64_t end = integer(record, "host_time_end_ns", -1);
    if (tick < 0 || begin < 0 || end < begin) return;
    correlations_[integer(record, "physical_device_ordinal")].push_back(
        {tick, begin + (end - begin) / 2});
  }

  // By the first and the last correlation of a device, as IREE does.
  void place_on_host_clock() {
    for (auto& [device, of_device] : correlations_) {
      std::ranges::sort(of_device, {}, &Correlation::tick);
    }
    for (Execution& of : executions_) {
      if (!of.queue.on_device) continue;
      const auto found = correlations_.find(of.queue.device);
      const bool fits = found != correlations_.end() &&
                        found->second.front().tick < found->second.back().tick &&
                        found->second.front().host_ns < found->second.back().host_ns;
      if (!fits) continue;
      const Correlation first = found->second.front(), last = found->second.back();
      const double rate = double(last.host_ns - first.host_ns) / double(last.tick - first.tick);
      const auto host_ns = [&](std::int64_t tick) {
        const double ns = double(first.host_ns) + double(tick - first.tick) * rate;
        return std::int64_t(std::clamp(ns, 0.0, 4e18));
      };
      of.begin = host_ns(of.begin);
      of.end = std::max(of.begin, host_ns(of.end));
      of.is_placed = true;
    }
  }

  void find_dispatches_of_devices() {
    std::set<decltype(Execution{}.id())> timed;
    for (const Execution& of : executions_) {
      if (of.queue.on_device && of.is_placed) timed.insert(of.id());
    }
    for (Execution& of : executions_) {
      of.is_again = !of.queue.on_device && timed.contains(of.id());
    }
  }

  // By their begins; of a submission both clocks tell, once.
  void number_inferences() {
    std::map<SubmissionId, std::int64_t> begins;
    for (const Execution& of : executions_) {
      if (of.operation != "execute" || !of.is_placed) continue;
      const auto [place, is_new] = begins.try_emplace(of.submitted(), of.begin);
      place->second = std::min(place->second, of.begin);
    }
    std::vector<std::pair<std::int64_t, SubmissionId>> order;
    for (const auto& [id, begin] : begins) order.emplace_back(begin, id);
    std::ranges::sort(order);
    for (const auto& [begin, id] : order) {
      inferences_.emplace(id, std::uint32_t(inferences_.size()));
    }
    profile_.provenance.inferences = std::uint32_t(inferences_.size());
    if (inferences_.size() > 1) {
      profile_.provenance.temperature = Provenance::Temperature::cold_then_warm;
    }
  }

  void add_profile() {
    profile_.provenance.format = format_name;
    profile_.provenance.files = {source_.name()};
    profile_.provenance.instrumentation = "HAL profile";
    profile_.add_clock("host, monotonic", ClockKind::wall, Hertz(1e9), true);
    std::ranges::stable_sort(executions_, [](const Execution& a, const Execution& b) {
      return std::tuple(a.queue, a.begin, -a.end) < std::tuple(b.queue, b.begin, -b.end);
    });
    for (const Execution& of : executions_) of.is_placed ? add_span(of) : add_ticks(of);
    fill_columns();
    add_samples();
  }

  UnitId unit_of(const Queue& queue) {
    const auto [device, is_new_device] = devices_.try_emplace(queue.device, UnitId::none);
    const auto number = std::uint32_t(queue.device);
    if (is_new_device) {
      const std::string name = fmt::format("device[{}]", queue.device);
      device->second = add_unit(
          profile_,
          {.device = number, .engine = Engine::device, .name = profile_.strings.intern(name)});
    }
    const auto [place, is_new] = queues_.try_emplace(queue, UnitId::none);
    if (!is_new) return place->second;
    const std::string name =
        fmt::format("queue[{}]{}{}", queue.queue,
                    queue.stream != 0 ? fmt::format(" stream={}", queue.stream) : "",
                    queue.on_device ? " on the device" : "");
    return place->second = add_unit(profile_, {.device = number,
                                               .engine = Engine::other,
                                               .name = profile_.strings.intern(name),
                                               .parent = device->second});
  }

  OpId op_of(const Execution& of) {
    const std::string& name = of.key.empty() ? of.operation : of.key;
    const auto [place, is_new] = ops_.try_emplace({of.operation, name}, OpId(profile_.ops.size()));
    if (!is_new) return place->second;
    StringPool& strings = profile_.strings;
    Op op;
    op.name = strings.intern(name);
    op.position = std::uint32_t(profile_.ops.size());
    const auto id = index_of(place->second);
    if (of.operation == "dispatch") {
      const DispatchName said = dispatch_name(name);
      op.kind = op.node_kind = strings.intern(said.operation);
      op.types = strings.intern(said.types);
      op.attributes = strings.intern(said.extents);
      profile_.ops.push_back(op);
      if (said.macs) {
        profile_.add_measure(Measure::Subject::op, id, op_macs, Origin::derived, {}, *said.macs);
        if (said.operation.find("conv") != said.operation.npos) {
          losses_.add(Severity::info, 0,
                      "MACs of dispatches called conv are the product of their extents: IREE "
                      "calls pools so too, which have none");
        }
      }
      return place->second;
    }
    op.kind = strings.intern(of.operation);
    profile_.ops.push_back(op);
    return place->second;
  }

  static SpanKind kind_of(const Execution& of) {
    if (of.operation == "execute")
      return of.queue.on_device ? SpanKind::annotation : SpanKind::inference;
    if (of.is_again) return SpanKind::annotation;
    if (of.operation == "dispatch") return SpanKind::kernel;
    for (const std::string_view moves : {"fill", "copy", "update", "read", "write"}) {
      if (of.operation == moves) return SpanKind::copy;
    }
    return SpanKind::host;
  }

  std::uint32_t instance_of(const Execution& of) const {
    const auto found = inferences_.find(of.submitted());
    return found == inferences_.end() ? every_instance : found->second;
  }

  void add_span(const Execution& of) {
    profile_.spans.add(unit_of(of.queue), op_of(of), kind_of(of), of.begin, of.end - of.begin);
    profile_.spans.instance.push_back(instance_of(of));
    placed_.push_back(&of);
  }

  // Of a device whose ticks nothing relates to the host's clock.
  void add_ticks(const Execution& of) {
    constexpr NamedNumber ticks{"device ticks", MeasureKind::work, NumberRole::node_cycles};
    if (of.operation == "execute") return;
    if (!device_clock_) {
      device_clock_ = profile_.add_clock("device", ClockKind::unit_cycles, Hertz(0));
    }
    profile_.add_measure(Measure::Subject::op, index_of(op_of(of)), ticks, Origin::measured,
                         *device_clock_, double(of.end - of.begin), instance_of(of));
    losses_.add(Severity::warning, 0,
                "times of a device that no two clock correlations relate to the host: numbers of "
                "their ops, not part of the timeline");
  }

  void fill_columns() {
    const auto add = [&](const NamedNumber& number, auto value_of) {
      MeasureColumn column =
          profile_.column_of(number, Origin::measured,
                             number.kind == MeasureKind::count ? ClockId{} : profile_.base_clock);
      bool any = false;
      for (const Execution* of : placed_) {
        const std::optional<std::int64_t> value = value_of(*of);
        any = any || value;
        column.values.push_back(value.value_or(MeasureColumn::missing));
      }
      if (any) profile_.spans.measures.push_back(std::move(column));
    };
    const auto of_tiles = [](const Execution& of, std::int64_t value) {
      return of.tile_count > 0 && value >= 0 ? std::optional(value) : std::nullopt;
    };
    add(tile_time, [&](const Execution& of) { return of_tiles(of, of.tile_ns); });
    add(tiles, [&](const Execution& of) { return of_tiles(of, of.tile_count); });
    add(in_queue, [&](const Execution& of) -> std::optional<std::int64_t> {
      if (of.operation != "execute" || of.queue.on_device) return std::nullopt;
      const auto found = submitted_.find(of.submitted());
      const bool fits =
          found != submitted_.end() && found->second >= 0 && found->second <= of.begin;
      return fits ? std::optional(of.begin - found->second) : std::nullopt;
    });
  }

  void add_samples() {
    for (std::uint32_t pool = 0; pool < pools_.size(); ++pool) {
      CounterSeries series;
      series.name = profile_.strings.intern("pool bytes reserved");
      series.part = profile_.strings.intern(pools_.size() > 1 ? fmt::format("pool {}", pool) : "");
      series.quantity = profile_.strings.intern("bytes");
      profile_.counters.series.push_back(series);
    }
    std::ranges::stable_sort(samples_, {}, &Sample::time);
    for (const Sample& sample : samples_) {
      profile_.counters.of.push_back(sample.pool);
      profile_.counters.time.push_back(sample.time);
      profile_.counters.value.push_back(sample.bytes);
    }
  }

  struct Sample {
    std::int64_t time = 0;
    std::uint32_t pool = 0;
    double bytes = 0;
  };

  ByteSource& source_;
  const ProgressReport& progress_;
  simdjson::dom::parser parser_;
  Profile profile_;
  CountedNotes losses_;
  bool has_end_ = false;
  std::int64_t sessions_ = 0;
  std::vector<Execution> executions_;
  std::vector<const Execution*> placed_;  // by row
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> functions_;
  std::map<SubmissionId, std::int64_t> submitted_;
  std::map<SubmissionId, std::uint32_t> inferences_;
  std::map<std::int64_t, std::vector<Correlation>> correlations_;  // by device
  std::map<std::int64_t, std::uint32_t> pools_;
  std::vector<Sample> samples_;
  std::map<std::int64_t, UnitId> devices_;
  std::map<Queue, UnitId> queues_;
  std::map<std::pair<std::string, std::string>, OpId> ops_;
  std::optional<ClockId> device_clock_;
};

}  // namespace

bool looks_like(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\n'));
  return line.find("\"ireeperf-jsonl\"") != line.npos && line.find("\"record_type\"") != line.npos;
}

Result<Profile> read_profile(ByteSource& source, const ProgressReport& progress) {
  return Reader(source, progress).read();
}

}  // namespace npuscope::ireeperf
