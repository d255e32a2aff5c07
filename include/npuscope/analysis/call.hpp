// One call of the network as the host sees it, and what each layer below takes of it: the time that
// an application waits, and what everything else is a part of.
//
//   const auto call = analyse_call(profile);
//   call->layers     QNN 2.439 ms > RPC 2.328 ms > … > Accelerator 35.50 us > Graph Execute 18.88
//   us call->warm       medians of the second and third call; the first is left out
//   call->graph_ticks        35,519 cycles of a warm Graph Execute, where the device counts them
//
// Where ops were recorded in the first, cold call only, the call says what they may cost when warm.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

struct CallLayer {
  std::string name;    // as the profile has it: "RPC (execute) time"
  double seconds = 0;  // with what is inside
  double own = 0;      // seconds, less the next layer
};

struct Call {
  std::vector<CallLayer> layers;  // outermost first; at least one
  std::size_t device = 0;         // index of the first layer that is the device's own; 0: unknown
  std::uint64_t count = 0;        // calls that the medians are of, or 1: a mean of the file's own
  bool warm = false;              // the first is left out, or the file says that it is not cold
  bool is_mean = false;           // of the file's own, of all calls
  bool starts_on_device = false;  // the host's part of it is unknown
  std::optional<double> graph_ticks = {};  // of the base clock, of the innermost layer when warm
  std::optional<double> graph_hertz = {};  // of the base clock during it
  // Simulated: the host stood in for the device.
  Origin origin = Origin::measured;

  double seconds() const { return layers.front().seconds; }
  bool has_device() const { return device > 0; }
  double device_seconds() const { return layers[device].seconds; }  // the whole where unknown
};

// None where no file has both views, or where calls queue for one another: their round trips are
// not of one call.
std::optional<Call> analyse_call(const Profile& profile);

// By op the cycles of the node that it belongs to in a warm call, a sum over threads, median over
// warm calls; none where the files have none.
std::vector<std::optional<double>> warm_node_cycles(const Profile& profile);

}  // namespace npuscope::analysis
