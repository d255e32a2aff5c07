// The layers of a call of the network, from the application down to the device, by what numbers
// mean and by phases' names: what analyse_call nests, and what `latency` and `device_latency` are
// taken from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "npuscope/profile/meaning.hpp"

namespace npuscope::analysis {

struct CallLayerName {
  enum class Place : std::uint8_t { host, between, device };
  enum class Form : std::uint8_t {
    number,  // a number of the profile
    beside,  // one that leaves out part of its layer, and so is inside no other
    phase,   // a phase of the profile
  };
  NumberRole role = NumberRole::none;
  Statistic statistic = Statistic::none;
  std::string_view phase = {};
  Place place = Place::host;
  Form form = Form::number;

  bool is(const Meaning& meaning) const {
    return form != Form::phase && meaning.role == role && meaning.statistic == statistic;
  }
};

// By kind of call, those that tell most first; the layers of each outermost first.
const std::vector<std::vector<CallLayerName>>& known_calls();

}  // namespace npuscope::analysis
