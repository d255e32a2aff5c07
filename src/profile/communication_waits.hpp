// What collectives of a trace are made of: waiting for ranks that have not come yet, and transfer.
//
//   add_communication_waits(profile, parts);
//   profile.spans.measure(NumberRole::communication_wait)->values[row]   // of each collective
#pragma once

#include <cstdint>
#include <span>

#include "npuscope/profile/profile.hpp"

namespace npuscope {

struct CommunicationPart {
  std::uint32_t row = 0;
  bool waits = false;  // else transfers
};

// A moment counts as waiting where some part of a collective waits and none transfers, whatever
// track of its process they are on.
void add_communication_waits(Profile& profile, std::span<const CommunicationPart> parts);

}  // namespace npuscope
