#include "report/document/call_section.hpp"

#include <fmt/format.h>

namespace npuscope::report {

Section call_section(const analysis::Call& call) {
  const char* which = call.warm ? "WARM CALL" : "COLD CALL";
  Section section{.key = "call", .title = which};
  if (call.count > 1) section.title = fmt::format("{}, median of {}", which, call.count);
  section.facts = {{{"warm"}, call.warm},
                   {{"count"}, call.count},
                   {{"device_share", "", Format::share}, call.device_seconds() / call.seconds()},
                   {{"graph_ticks", "", Format::number}, call.graph_ticks}};
  section.table.fields = {{"layer", "layer"},
                          {"time", "time", Format::seconds},
                          {"own", "in this layer alone", Format::seconds},
                          {"own_share", "of the call", Format::share},
                          {"on_device", "", Format::truth}};
  for (std::size_t i = 0; i < call.layers.size(); ++i) {
    const analysis::CallLayer& layer = call.layers[i];
    section.table.rows.push_back(
        {layer.name, layer.seconds, layer.own, layer.own / call.seconds(), i >= call.device});
  }
  return section;
}

}  // namespace npuscope::report
