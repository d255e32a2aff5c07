// Makes a profile of an operator trace's events, in steps that each have a file of their own:
//
//   opstats_tracks    names of processes and threads -> units
//   opstats_profile   slices -> spans and ops
//   opstats_marks     counters, instants and asynchronous events
//   opstats_links     flows and P2P pairs -> flows and edges
#pragma once

#include <cstdint>
#include <vector>

#include "formats/chrome/events.hpp"
#include "formats/qaic/opstats/opstats_tracks.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::qaic {

// Nanoseconds of the file as ticks of the UTIMER (19.2 MHz, so 192 ticks in 10,000 ns).
std::int64_t ticks_of(std::int64_t nanoseconds);

// One side of a transfer between devices.
struct PortSpan {
  std::uint32_t row = 0;
  StringId description{};  // "0->1" out of 0, "0<-1" into 0
  StringId transaction{};
};

// Counters, instants, asynchronous events; all marks but flows. `threads` says which process each
// is of.
void add_opstats_marks(const chrome::Marks& marks, const std::vector<chrome::Thread>& threads,
                       const OpstatsTracks& tracks, std::int64_t origin, Profile& profile);

// Flows are paired card by card in the file's order, because ids repeat across cards.
// `thread_of_row` is the thread of each span that was a slice.
void add_opstats_flows(const chrome::Marks& marks, const Column<std::uint32_t>& thread_of_row,
                       const OpstatsTracks& tracks, std::int64_t origin, Profile& profile);

void add_port_edges(const std::vector<PortSpan>& ports, Profile& profile);

}  // namespace npuscope::qaic
