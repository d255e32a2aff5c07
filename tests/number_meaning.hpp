// What readers say of numbers of these names, for profiles that tests make by hand.
//
//   measure.meaning = meaning_of(measure.kind, "graph wall");   // a time, NumberRole::graph_wall
#pragma once

#include <string_view>
#include <utility>

#include "profile/number_names.hpp"

namespace npuscope::test_support {

inline Meaning meaning_of(MeasureKind kind, std::string_view name) {
  using enum NumberRole;
  constexpr std::pair<std::string_view, NumberRole> roles[] = {
      {"graph wall", graph_wall},
      {"Graph Execute, rounded down", graph_execute},
      {"node cycles", node_cycles},
      {"peak VTCM bytes", vtcm_peak},
      {"vtcm bytes", vtcm_peak},
      {"vtcm bytes of the fullest core", vtcm_peak},
      {"utilization percent", utilization},
      {"utilization percent, waits included", utilization_with_waits},
      {"effective frequency (Hz)", effective_frequency},
      {"busy, waits included", busy},
      {"sync wait", wait},
      {"threads", threads},
      {"Number of HVX threads used", hvx_threads},
      {"program", program},
      {"activation", activation},
      {"inference", inference},
      {"stats batch size", stats_batch_size},
      {"QNN (execute) time", qnn_execute},
      {"RPC (execute) time", rpc_execute},
      {"QNN accelerator (execute) time", qnn_accelerator_execute},
      {"Accelerator (execute) time", accelerator_execute},
      {"Accelerator (execute excluding wait) time", accelerator_execute_alone},
      {"Accelerator (execute) time (cycles)", execute_cycles},
      {"total round trip", total_round_trip},
      {"execution", device_execution},
      {"input wait", device_input_wait},
      {"output wait", device_output_wait},
      {"run", run_time},
      {"inferences", run_inferences},
      {"batch size", run_batch_size},
      {"inferences per second", run_rate}};
  constexpr std::pair<std::string_view, Statistic> statistics[] = {
      {", average", Statistic::mean}, {", mean", Statistic::mean},   {", minimum", Statistic::min},
      {", min", Statistic::min},      {", maximum", Statistic::max}, {", max", Statistic::max},
      {", 50%", Statistic::p50},      {", 95%", Statistic::p95},     {", 99%", Statistic::p99}};
  Meaning meaning = number_named(kind, name).meaning;
  for (const auto& [ending, statistic] : statistics) {
    if (!name.ends_with(ending)) continue;
    const Meaning of_one = meaning_of(kind, name.substr(0, name.size() - ending.size()));
    return {of_one.quantity, of_one.role, statistic, false};
  }
  for (const auto& [known, role] : roles) {
    if (name == known) meaning.role = role;
  }
  return meaning;
}

}  // namespace npuscope::test_support
