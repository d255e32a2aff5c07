#include "npu/nsp/simulate/run/host_phases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formats/chrome/trace_events.hpp"
#include "formats/qaic/opstats/opstats_style.hpp"

namespace npuscope::npu::nsp {

namespace {

std::int64_t whole_nanoseconds(Picoseconds time) { return std::llround(double(time.value) / 1e3); }

constexpr chrome::TraceStyle style = qaic::opstats_style(chrome::TraceTime::thousandths);
constexpr int process = 1;

}  // namespace

// Both ends are rounded, so that what follows one another does not overlap.
void HostPhases::slice(const char* name, const SimulatedInference& inference, Picoseconds begin,
                       Picoseconds end) {
  const std::uint64_t track =
      std::uint64_t{inference.activation} * set_size_ + inference.number % set_size_ + 1;
  const std::int64_t from = whole_nanoseconds(begin);
  slices_.push_back({name, track, from, std::max<std::int64_t>(0, whole_nanoseconds(end) - from),
                     inference.number, inference.activation});
}

void HostPhases::add(const SimulatedInference& inference, std::int64_t device_begin_tick,
                     double timer_kilohertz) {
  if (!ticks_at_zero_) {
    ticks_at_zero_ = device_begin_tick -
                     std::llround(double(inference.device_begin.value) * timer_kilohertz * 1e-9);
  }
  slice("queue", inference, inference.queued, inference.taken);
  slice("prepare", inference, inference.taken, inference.prepared);
  slice("submit", inference, inference.prepared, inference.submitted);
  slice("send", inference, inference.submitted, inference.device_begin);
  slice("device", inference, inference.device_begin, inference.device_end);
  slice("complete", inference, inference.device_end, inference.awake);
  slice("post", inference, inference.awake, inference.finished);
}

std::string HostPhases::trace() const {
  if (!ticks_at_zero_) return {};
  TextOutput out;
  JsonWriter json(out, JsonLayout::wide());
  json.begin_object();
  json.key("otherData");
  json.object([&] { json.member("utimer_ticks_at_zero", fmt::to_string(*ticks_at_zero_)); });
  json.key("traceEvents");
  json.begin_array();
  chrome::TraceEvents<style> events(out);
  events.add({.phase = chrome::TracePhase::metadata, .name = "process_name", .process = process},
             [&] { events.json().member("name", "HOST_PROC (pid 1)"); });
  for (const Slice& slice : slices_) {
    events.add({.name = slice.name,
                .category = "host",
                .process = process,
                .thread = slice.track,
                .time = slice.begin,
                .duration = slice.duration},
               [&] {
                 events.json().key("inference");
                 events.json().quoted(slice.inference);
                 events.json().key("activation");
                 events.json().quoted(slice.activation);
               });
  }
  events.end();
  return std::string(out.text());
}

}  // namespace npuscope::npu::nsp
