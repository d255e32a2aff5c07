// What rules of roles say beyond a role: bytes of transfers, waits for events, counters that
// instants give, and slices that belong on the track next to theirs.
#pragma once

#include <cstdint>
#include <vector>

#include "npuscope/profile/event_roles.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope {

// Slices of rules that say more than a role.
struct Detailed {
  std::uint32_t row = 0;
  const RoleRule* rule = nullptr;
  bool was_known = false;  // as where npuscope wrote the trace: the arrows are in it
};

void add_details(const std::vector<Detailed>& detailed, Profile& profile);

}  // namespace npuscope
