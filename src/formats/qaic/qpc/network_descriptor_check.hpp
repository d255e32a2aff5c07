// What a network descriptor must not contradict in itself before anything relies on it.
#pragma once

#include <string>

#include "formats/qaic/qpc/network_descriptor.hpp"

namespace npuscope::qaic {

// "a thread is in group 3, but 3 groups have names"; empty when the descriptor is sound.
std::string contradiction_in(const NetworkDescriptor& network);

}  // namespace npuscope::qaic
