#include "formats/qaic/stats/stats_decoding.hpp"

namespace npuscope::qaic {

void StatsDecoding::add_span(UnitId unit, SpanKind kind, std::int64_t start, std::int64_t duration,
                             std::int64_t cycles) {
  Spans& spans = profile_.spans;
  spans.unit.push_back(unit);
  spans.op.push_back(OpId::none);
  spans.kind.push_back(kind);
  spans.start.push_back(start);
  spans.duration.push_back(duration);
  spans.processor_cycles.push_back(cycles);
  spans.instance.push_back(std::uint32_t(identity_.inference));
}

void StatsDecoding::add_inferences() {
  first_counter_.resize(threads_.size());
  for (std::size_t key = 0; key < threads_.size(); ++key) {
    const StatsThread& thread = threads_[key];
    if (thread.end_ticks == 0) continue;
    const auto unit = network_.thread_unit(std::uint32_t(key / network_.threads_per_core()),
                                           std::uint32_t(key % network_.threads_per_core()));
    const auto begin = std::int64_t(thread.begin_ticks);
    const auto activation = std::int64_t(thread.activation_ticks);
    add_span(unit, SpanKind::inference, begin, std::int64_t(thread.end_ticks) - begin,
             std::int64_t(thread.end_cycles - thread.begin_cycles));
    add_span(unit, SpanKind::activation, begin - activation, activation,
             std::int64_t(thread.activation_cycles));
    first_counter_[key] = profile_.measures.size();
    for (std::size_t counter = 0; counter < pmu_counters(); ++counter) {
      const std::uint32_t event = identity_.pmu_events[counter];
      measure_of(unit, pmu_number(event, measure::pmu(event)), Origin::counter,
                 thread.pmu[counter]);
    }
  }
  std::int64_t begin = std::int64_t(max_ticks);
  std::int64_t end = -1;
  for (std::uint32_t core = 0; core < network_.cores(); ++core) add_core_inference(core);
  for (const StatsThread& thread : threads_) {
    if (thread.end_ticks == 0) continue;
    begin = std::min(begin, std::int64_t(thread.begin_ticks));
    end = std::max(end, std::int64_t(thread.end_ticks));
  }
  if (end < 0) return;
  begin_ = begin;
  add_span(network_.device_unit(), SpanKind::inference, begin, end - begin, -1);
}

// From the first thread's begin to the last thread's end, in ticks and in the core's own cycles.
void StatsDecoding::add_core_inference(std::uint32_t core) {
  StatsThread whole;
  bool any = false;
  for (std::uint32_t i = 0; i < network_.threads_per_core() && !threads_.empty(); ++i) {
    const StatsThread& thread = threads_[std::size_t{core} * network_.threads_per_core() + i];
    if (thread.end_ticks == 0) continue;
    whole.begin_ticks = any ? std::min(whole.begin_ticks, thread.begin_ticks) : thread.begin_ticks;
    whole.begin_cycles =
        any ? std::min(whole.begin_cycles, thread.begin_cycles) : thread.begin_cycles;
    whole.end_ticks = std::max(whole.end_ticks, thread.end_ticks);
    whole.end_cycles = std::max(whole.end_cycles, thread.end_cycles);
    any = true;
  }
  if (!any) return;
  add_span(network_.core_unit(core), SpanKind::inference, std::int64_t(whole.begin_ticks),
           std::int64_t(whole.end_ticks - whole.begin_ticks),
           std::int64_t(whole.end_cycles - whole.begin_cycles));
}

void StatsDecoding::add_ddr() {
  if (reader_.find(stats_cores) == nullptr) return;  // only with -ddr-stats
  const auto cores = usable<StatsCore>(stats_cores, "cores", network_.cores());
  for (std::uint32_t core = 0; core < cores.size(); ++core) {
    const UnitId unit = network_.core_unit(core);
    measure_of(unit, ddr_read_bytes, Origin::counter, double(cores[core].ddr_read_bytes));
    measure_of(unit, ddr_write_bytes, Origin::counter, double(cores[core].ddr_write_bytes));
  }
}

void StatsDecoding::add_ports() {
  if (identity_.stats_level < 50) return;
  const auto ports = usable<StatsPort>(stats_ports, "ports", 0);
  std::uint64_t unknown = 0;
  for (const StatsPort& port : ports) {
    if (port.core >= network_.cores() || port.thread >= network_.threads_per_core() ||
        port.wait_ticks > last_tick_ || port.doorbell_ticks > last_tick_) {
      unknown += 1;
      continue;
    }
    const UnitId unit = network_.thread_unit(port.core, port.thread);
    measure_of(unit, {measure::port_wait(port.port), MeasureKind::active, NumberRole::wait},
               Origin::measured, double(port.wait_ticks));
    if (port.doorbell_ticks > 0 && begin_) {
      // A moment by itself is no length of time.
      measure_of(unit, {measure::port_doorbell(port.port), MeasureKind::wall}, Origin::measured,
                 double(port.doorbell_ticks) - double(*begin_));
    }
  }
  if (unknown > 0) {
    note(Severity::error, reader_.find(stats_ports)->offset, unknown,
         fmt::format("{} port records name a core or thread that is not there, or have absurd "
                     "times; left out",
                     unknown));
  }
}

}  // namespace npuscope::qaic
