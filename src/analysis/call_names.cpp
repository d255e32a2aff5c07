#include "analysis/call_names.hpp"

namespace npuscope::analysis {

const std::vector<std::vector<CallLayerName>>& known_calls() {
  using enum CallLayerName::Place;
  using enum CallLayerName::Form;
  using Role = NumberRole;
  constexpr auto one = Statistic::none;
  static const std::vector<std::vector<CallLayerName>> calls{
      // QNN: the viewer's text
      {{Role::qnn_execute, one, "", host, number},
       {Role::rpc_execute, one, "", between, number},
       {Role::qnn_accelerator_execute, one, "", between, number},
       {Role::accelerator_execute, one, "", device, number},
       {Role::accelerator_execute_alone, one, "", device, beside},
       {Role::none, one, "Graph Execute", device, phase}},
      // the same over all executes of a file
      {{Role::qnn_execute, Statistic::mean, "", host, number},
       {Role::rpc_execute, Statistic::mean, "", between, number},
       {Role::qnn_accelerator_execute, Statistic::mean, "", between, number},
       {Role::accelerator_execute, Statistic::mean, "", device, number}},
      // a summary of QHAS without the viewer's text
      {{Role::dsp_execute, one, "", device, number},
       {Role::graph_execute, one, "", device, number}},
      // Synaptics Torq: the runtime's log
      {{Role::none, one, "HAL_QUEUE_EXECUTE", host, phase}},
      // Cloud AI 100: statistics of a latency file
      {{Role::total_round_trip, Statistic::p50, "", host, number},
       {Role::device_execution, Statistic::p50, "", device, number}},
      {{Role::total_round_trip, Statistic::mean, "", host, number},
       {Role::device_execution, Statistic::mean, "", device, number}}};
  return calls;
}

}  // namespace npuscope::analysis
