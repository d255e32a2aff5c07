#include "analysis/call_names.hpp"

#include <fmt/format.h>

namespace npuscope::analysis {

std::string CallLayerName::metric() const {
  return form == Form::phase ? fmt::format("phase('{}')", name) : std::string(name);
}

const std::vector<std::vector<CallLayerName>>& known_calls() {
  using enum CallLayerName::Place;
  using enum CallLayerName::Form;
  static const std::vector<std::vector<CallLayerName>> calls{
      // QNN: the viewer's text
      {{"QNN (execute) time", host, number},
       {"RPC (execute) time", between, number},
       {"QNN accelerator (execute) time", between, number},
       {"Accelerator (execute) time", device, number},
       {"Accelerator (execute excluding wait) time", device, beside},
       {"Graph Execute", device, phase}},
      // Synaptics Torq: the runtime's log
      {{"HAL_QUEUE_EXECUTE", host, phase}},
      // Cloud AI 100: statistics of a latency file
      {{"total round trip, 50%", host, number}, {"device execution, 50%", device, number}},
      {{"total round trip, mean", host, number}, {"device execution, mean", device, number}}};
  return calls;
}

}  // namespace npuscope::analysis
