// What a number is, typed: the reader that makes a number sets it, and nobody else looks at the
// name.
//
//   constexpr NamedNumber peak{"peak VTCM bytes", NumberQuantity::bytes, NumberRole::vtcm_peak};
//   constexpr NamedNumber wall{"graph wall", MeasureKind::wall, NumberRole::graph_wall};
//   wall.meaning.quantity                                                 // time
//   wall.meaning.additive                                                 // false: a wall time
//   NamedNumber{"utilization percent", NumberQuantity::share}.meaning.additive  // false
//
// A reader has one table of these, so that a name and its meaning stand on one line. Only readers
// of files that say no more than a name ask for the meaning of a name (profile/number_names.hpp).
#pragma once

#include <cstdint>
#include <string_view>

namespace npuscope {

// A number carries what kind of number it is.
enum class MeasureKind : std::uint8_t {
  wall,           // end - start of everything
  span,           // one op, first start to last end
  active,         // length of the union of intervals
  work,           // sum over instances and threads; may exceed wall
  unit_busy,      // active on one unit
  domain,         // the busiest unit of a class
  dominant_path,  // share of the critical path
  count,          // events, bytes: not a time
};

// What is counted; a time where the kind is not count.
enum class NumberQuantity : std::uint8_t { time, bytes, hertz, share, rate, count, macs };

// What a number is for those who ask for it; none of most. One that is part of what another role
// counts (bytes of constants, of the first inference) does not have that role.
enum class NumberRole : std::uint8_t {
  none,
  // Bytes moved
  ddr_read,
  ddr_write,
  vtcm_read,
  vtcm_write,
  multicast_write,
  ddr_read_constants,  // part of ddr_read
  bytes_in_flight,     // of the ops that run at a moment: no traffic
  // Bytes of VTCM
  vtcm_allocated,  // sampled
  vtcm_peak,
  // Time and use
  dominant_path,
  graph_wall,
  graph_execute,         // the same in whole microseconds
  dsp_execute,           // with what the accelerator does around it
  kernel_dominant_path,  // of all ops of one kernel; the number's name says which
  node_cycles,           // of a node of the model, by inference
  utilization,           // of a unit, as the file states it; so are the next four
  utilization_with_waits,
  active_share,
  busy,
  wait,
  communication_wait,  // of a collective, for other ranks
  inference_time,      // of a unit's frames of whole inferences; so are the next two
  processor_cycles,
  effective_frequency,
  recorded_duration,  // of a span that runs into the next of a track in order, as the file states
                      // it
  // Hardware
  packets,      // instruction packets
  pmu_event,    // Measure::event says which
  threads,      // that a unit's spans stand for
  hvx_threads,  // that a graph uses
  // Which run it is
  program,
  activation,
  inference,
  stats_batch_size,
  lost_events,  // that the recorder had no room for
  // The layers of one call, from the application down to the device
  session_run,         // of the runtime that gave the graph away, with what it left elsewhere
  session_node,        // of the graph alone, as that runtime saw it
  all_graphs_execute,  // of an inference that several graphs make up, in order
  qnn_execute,
  rpc_execute,
  qnn_accelerator_execute,
  accelerator_execute,
  accelerator_execute_alone,  // without waiting for its resources
  execute_cycles,             // that tools sum over the threads of an execution
  // Latency
  total_round_trip,
  host_round_trip,
  device_execution,
  device_input_wait,
  device_output_wait,
  device_rate,    // inferences a second
  function_step,  // of one of several functions of a program
  function_wait,
  queue_depth,
  inferences_in_queue,
  run_time,  // of a whole run; so are the next three
  run_inferences,
  run_batch_size,
  run_rate,
  // Of what a compiler estimates
  estimated_wall,
  wall_rounded,  // the same in whole microseconds
  wall_lower,
  wall_upper,
  ops_without_estimate,
  vtcm_size,
  ddr_peak_rate,  // bytes a second
  model_nodes,    // of the model that was compiled, wherever they run
  // Of language models
  tokens,       // that the profile's inferences read or made
  tokens_time,  // what the runtime says that they took; the device's part of it:
  batch_time,   // of what it was given at once
  // Of an op whose span is the frame of what units did for it
  op_window,
  best_ddr_rate,  // of the whole run's ops, the largest: bytes a second
  dma_cycles,     // in which its DMA engine moved data
  // What one schedule of a program does otherwise than another
  exposed_transfer,  // time in which data moves and nothing computes
  hidden_transfer,   // time in which data moves behind compute
  code_fetches,      // blocks of the NPU's own program that it fetches while it runs
  kept_on_chip,      // bytes that one kernel leaves in on-chip memory to another
  // The schedule of a program that ran, as its compiler estimates it: where only that tells why two
  // runs differ
  schedule_wall,
  schedule_active,
  schedule_work,
};
inline constexpr std::size_t number_role_count = std::size_t(NumberRole::schedule_work) + 1;

// Over many inferences or executions; none: the number itself.
enum class Statistic : std::uint8_t {
  none,
  mean,
  min,
  max,
  deviation,
  p50,
  p75,
  p90,
  p95,
  p99,
  other
};

struct Meaning {
  NumberQuantity quantity = NumberQuantity::count;
  NumberRole role = NumberRole::none;
  Statistic statistic = Statistic::none;
  bool additive = false;  // whether numbers of ops and spans may be added up

  bool operator==(const Meaning&) const = default;
};

// Not wall times, spans and shares of a unit.
constexpr bool adds_up(MeasureKind kind) {
  return kind == MeasureKind::work || kind == MeasureKind::dominant_path ||
         kind == MeasureKind::count || kind == MeasureKind::active;
}
constexpr bool adds_up(NumberQuantity quantity) {
  return quantity != NumberQuantity::hertz && quantity != NumberQuantity::share &&
         quantity != NumberQuantity::rate;
}

// A number's name and what the reader knows of it.
struct NamedNumber {
  std::string_view name;
  MeasureKind kind = MeasureKind::count;
  Meaning meaning{};
  std::uint32_t event = 0;  // the PMU event's code

  constexpr NamedNumber(std::string_view name, MeasureKind kind, Meaning meaning)
      : name(name), kind(kind), meaning(meaning) {}
  // A time; of MeasureKind::count a count.
  constexpr NamedNumber(std::string_view name, MeasureKind kind, NumberRole role = NumberRole::none)
      : name(name), kind(kind) {
    meaning.quantity = kind == MeasureKind::count ? NumberQuantity::count : NumberQuantity::time;
    meaning.role = role;
    meaning.additive = adds_up(kind);
  }
  constexpr NamedNumber(std::string_view name, NumberQuantity quantity,
                        NumberRole role = NumberRole::none)
      : name(name) {
    meaning.quantity = quantity;
    meaning.role = role;
    meaning.additive = adds_up(quantity);
  }

  constexpr NamedNumber called(std::string_view other) const {
    NamedNumber number = *this;
    number.name = other;
    return number;
  }
  // A level or a setting: a depth of a queue, a peak.
  constexpr NamedNumber not_additive() const {
    NamedNumber number = *this;
    number.meaning.additive = false;
    return number;
  }
  constexpr NamedNumber over_many(std::string_view other, Statistic statistic) const {
    NamedNumber number = called(other).not_additive();
    number.meaning.statistic = statistic;
    return number;
  }
};

}  // namespace npuscope
