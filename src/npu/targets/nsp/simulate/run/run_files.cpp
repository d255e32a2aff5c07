#include "npu/targets/nsp/simulate/run/run_files.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/memory_use.hpp"
#include "base/try.hpp"
#include "formats/chrome/trace_events.hpp"
#include "formats/qaic/opstats/opstats_host_trace.hpp"
#include "formats/qaic/opstats/opstats_summary.hpp"
#include "formats/qaic/opstats/opstats_trace.hpp"

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

namespace {

double microseconds(Picoseconds time) { return double(time.value) * 1e-6; }

double device_microseconds(std::uint64_t ticks, double timer_hz) {
  return double(ticks) / timer_hz * 1e6;
}

std::string inference_name(std::uint32_t program, const SimulatedInference& inference) {
  return fmt::format("aic-profiling-program-{}-activation-{}-inf-{}", program, inference.activation,
                     inference.number);
}

// When its device began: the earliest of its units.
std::int64_t begin_tick(const Profile& profile) {
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < profile.spans.size(); ++i) {
    if (profile.spans.kind[i] == SpanKind::inference) {
      begin = std::min(begin, profile.spans.start[i]);
    }
  }
  return begin;
}

const std::vector<std::byte>& buffer_of(const SimulatedInference& inference, std::size_t part) {
  return part == 0 ? inference.stats_buffer : inference.more_stats_buffers[part - 1];
}

}  // namespace

std::string RunFiles::part_name(std::size_t part) const {
  return run_.is_multi_device() ? "-" + run_.parts[part]->program.network_name : "";
}

RunFiles::RunFiles(const RunRequest& request, const PlannedRun& run, RunOutcome& outcome)
    : request_(request), run_(run), outcome_(outcome), host_phases_(request.simulation.set_size) {
  latency_.program_id = run.number;
  latency_.program_name = run.label();
  latency_.requested = request.simulation.samples * request.simulation.activations;
}

Status RunFiles::write(const std::vector<std::filesystem::path>& files,
                       const std::function<Status()>& action) {
  std::vector<bool> existed;
  for (const auto& file : files) {
    std::error_code unknown;
    existed.push_back(std::filesystem::exists(file, unknown));
  }
  TRY(action());
  for (std::size_t i = 0; i < files.size(); ++i) {
    outcome_.files.push_back(files[i]);
    if (!request_.tell) continue;
    if (existed[i]) request_.tell(fmt::format("Deleting previous file: {}", files[i].string()));
    request_.tell(fmt::format("Writing file:{}", files[i].string()));
  }
  return {};
}

Status RunFiles::write(const std::filesystem::path& file, ByteSpan bytes) {
  return write({file}, [&] { return write_file_atomically(file, bytes); });
}

Status RunFiles::add(const SimulatedInference& inference) {
  if (inference.is_output) TRY(add_output(inference));
  if (!inference.sampled) return {};
  latency_.samples.push_back(latency_of(inference));
  TRY(add_buffer(inference));
  return request_.types.stats || request_.types.trace ? add_decoded(inference) : Status{};
}

Status RunFiles::add_output(const SimulatedInference& inference) {
  for (std::size_t part = 0; part < run_.parts.size(); ++part) {
    const std::string name = fmt::format("aiccyclecounts{}-activation-{}-inf-{}.bin",
                                         part_name(part), inference.activation, inference.number);
    const auto file = request_.write_output_folder / name;
    TRY(write(file, buffer_of(inference, part)));
  }
  return {};
}

Status RunFiles::add_buffer(const SimulatedInference& inference) {
  if (!request_.types.raw_device_stats) return {};
  for (std::size_t part = 0; part < run_.parts.size(); ++part) {
    const std::string name =
        fmt::format("{}-{}-aiccyclecounts.bin", inference_name(run_.number, inference),
                    run_.parts[part]->program.network_name);
    const auto file = request_.output_folder / name;
    TRY(write(file, buffer_of(inference, part)));
  }
  return {};
}

Status RunFiles::decode_against_networks() {
  if (!networks_.empty()) return {};
  for (const auto& part : run_.parts) {
    qaic::StatsNetworkOptions options;
    options.label = part->label;
    TRY_AS(network, qaic::StatsNetwork::create(part->descriptor, &part->program, options));
    networks_.push_back(std::move(*network));
  }
  return {};
}

Status RunFiles::add_decoded(const SimulatedInference& inference) {
  TRY(decode_against_networks());
  for (std::size_t part = 0; part < run_.parts.size(); ++part) TRY(add_decoded(part, inference));
  return {};
}

Status RunFiles::add_decoded(std::size_t part, const SimulatedInference& inference) {
  const std::string name = inference_name(run_.number, inference) + part_name(part);
  TRY_AS(profile, qaic::decode_stats_buffer(buffer_of(inference, part), name, networks_[part]));
  if (request_.types.stats) {
    qaic::OpstatsSummary summary = qaic::summarise(*profile);
    summary.host = qaic::host_times(latency_of(inference));
    const std::string text = qaic::print_summary(summary);
    const auto file = request_.output_folder / (name + ".txt");
    TRY(write(file, as_byte_span(text)));
  }
  if (!request_.types.trace) return {};
  if (part == 0) {
    host_phases_.add(inference, begin_tick(*profile), run_.first().target.timer_hz / 1000);
  }
  profiles_.push_back(std::move(*profile));
  return {};
}

qaic::LatencySample RunFiles::latency_of(const SimulatedInference& inference) const {
  const qaic::Program& program = run_.first().program;
  const double timer_hz = run_.first().target.timer_hz;
  qaic::LatencySample sample;
  sample.sample = inference.number;
  if (program.stats_level >= 40) {
    const double exec = device_microseconds(inference.device_ticks, timer_hz);
    sample.device_exec_us = exec;
    if (exec > 0) sample.device_inferences_per_second = program.stats_batch_size / exec * 1e6;
  }
  if (program.stats_level >= 50) {
    sample.device_input_wait_us = device_microseconds(inference.input_wait_ticks, timer_hz);
    sample.device_output_wait_us = device_microseconds(inference.output_wait_ticks, timer_hz);
  }
  sample.enqueue_us = microseconds(inference.taken - inference.queued);
  sample.pre_process_us = microseconds(inference.prepared - inference.taken);
  sample.submit_us = microseconds(inference.submitted - inference.prepared);
  sample.exec_to_link_us = microseconds(inference.input_sent - inference.submitted);
  sample.exec_to_complete_us = microseconds(inference.completed - inference.input_sent);
  sample.host_round_trip_us = microseconds(inference.completed - inference.submitted);
  sample.exec_total_us = microseconds(inference.awake - inference.submitted);
  sample.post_process_us = microseconds(inference.finished - inference.awake);
  sample.total_round_trip_us = microseconds(inference.finished - inference.queued);
  sample.queue_depth = request_.simulation.set_size;
  sample.in_queue = inference.in_queue;
  return sample;
}

Status RunFiles::finish() {
  if (samples() == 0) return {};
  if (request_.types.latency) {
    const auto file =
        request_.output_folder / fmt::format("aic-profiling-program-{}-latency.txt", run_.number);
    TRY(write(file, as_byte_span(print_latency(latency_))));
  }
  if (!request_.types.trace) return {};
  const auto file =
      request_.output_folder / fmt::format("aic-profiling-program-{}-trace.json", run_.number);
  std::vector<const Profile*> profiles;
  for (const Profile& profile : profiles_) profiles.push_back(&profile);
  const auto host_file =
      request_.output_folder / fmt::format("aic-profiling-program-{}-host-trace.json", run_.number);
  const std::string host_text = host_phases_.trace();
  TRY_AS(host, qaic::parse_host_trace(as_byte_span(host_text), host_file.string()));
  qaic::TraceOptions options;
  options.host_trace = &*host;
  const auto write_trace = [&]() -> Status {
    TRY(qaic::write_opstats_trace(profiles, options, file));
    return {};
  };
  TRY(write({file}, write_trace));
  return write(host_file, as_byte_span(host_text));
}

void RunFiles::add_op_trace(const SimulatedInference& inference) {
  node_cycles_.push_back(node_cycles_of(run_.first().program, *run_.first().schematic, inference));
}

Status RunFiles::add_optrace(SimulationResult& result) {
  const LoadedProgram& loaded = run_.first();
  TRY_AS(set, make_optrace(loaded.program, *loaded.schematic, loaded.target, result,
                           std::move(node_cycles_)));
  for (SimulatedInference& inference : result.inferences) {
    free_memory_of(inference.op_trace, inference.phases);
  }
  const std::string name =
      run_.number == 0 ? "chrometrace" : fmt::format("chrometrace-program-{}", run_.number);
  const std::filesystem::path stem = request_.qnn_folder / name;
  return write(qnn::optrace::optrace_files(*set, stem),
               [&] { return qnn::optrace::write_optrace_set(*set, stem); });
}

}  // namespace npuscope::npu::nsp
