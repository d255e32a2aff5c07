// Names that readers give to the layers of a call of the network, from the application down to the
// device: what analyse_call nests, and what `latency` and `device_latency` are taken from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace npuscope::analysis {

struct CallLayerName {
  enum class Place : std::uint8_t { host, between, device };
  enum class Form : std::uint8_t {
    number,  // a number of the profile
    beside,  // one that leaves out part of its layer, and so is inside no other
    phase,   // a phase of the profile
  };
  std::string_view name;
  Place place = Place::host;
  Form form = Form::number;

  std::string metric() const;  // "phase('Graph Execute')", or the number's name
};

// By kind of call, those that tell most first; the layers of each outermost first.
const std::vector<std::vector<CallLayerName>>& known_calls();

}  // namespace npuscope::analysis
