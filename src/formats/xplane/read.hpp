// The XSpaces of one run, a host each, as a profile.
//
//   std::vector<SpaceFile> files{{"out/…/worker-0.xplane.pb", bytes}, …};
//   auto profile = xplane::read_profile(files, options.roles);
//
// A plane is a process, a line is a thread, an event is a slice: as in the trace.json.gz that XLA
// writes next to it, whose roles (roles/xla.toml) say what is work. What only an XSpace has comes
// on top: picoseconds, categories and the cost model of HLO ops, launches joined with what they
// launched, events that are sums without a time, other hosts.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "npuscope/base/result.hpp"
#include "npuscope/profile/event_roles.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::xplane {

inline constexpr const char* format_name = "XLA XSpace";

struct SpaceFile {
  std::string name;
  std::string_view bytes;  // decompressed
};

// Whether a file begins as an XSpace does: with a plane that begins with a number or a name, and
// has a line or a table next.
bool looks_like(std::string_view head);

// An input error where no file holds an event.
Result<Profile> read_profile(std::span<const SpaceFile> files, std::span<const RoleTable> roles);

}  // namespace npuscope::xplane
