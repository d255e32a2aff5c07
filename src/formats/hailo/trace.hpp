// What HailoRT's tracer wrote (HAILO_TRACE=scheduler, hailort_*.hrtt): when frames were handed to
// the runtime, to the device and back, and when the scheduler switched the device to another
// network. A protobuf; fields by HailoRT's public schema.
//
//   const Trace trace = read_trace(bytes, losses);
//   trace.networks[0].inputs[0].handed_in      // ns of each frame, in their order
//
// A network ("core op") has a stream for each of its inputs and outputs; the n-th frame of each is
// of the n-th inference.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profile/counted_notes.hpp"

namespace npuscope::hailo {

// A frame passes a queue of the host on its way in and on its way out.
struct Stream {
  std::string name;
  std::vector<std::int64_t> into_queue, out_of_queue;  // ns; of an output the first is the device's
  // In Trace::devices, of each time that a device was there: out of an input's queue, into an
  // output's.
  std::vector<std::uint32_t> devices;
};

// The host switches a device to a network, or away from it.
struct Switch {
  std::int64_t end_ns = 0, duration_ns = 0;
  std::uint32_t device = 0;  // in Trace::devices
  bool is_to = true;
};

struct Network {
  std::string name;
  std::uint32_t max_batch = 0;
  std::vector<Stream> inputs, outputs;
  std::vector<Switch> switches;
  // Why the scheduler chose it, and what it was told.
  std::uint64_t by_threshold = 0, by_timeout = 0, by_idleness = 0;
  std::map<std::string_view, std::int64_t> settings;
};

struct Trace {
  std::string version;                       // of HailoRT
  std::vector<std::string> programs;         // HEFs
  std::vector<std::string> devices;          // ids
  std::map<std::string, std::string> chips;  // by id: "HAILO8"
  std::map<std::int32_t, Network> networks;  // by handle
};

// The header of such a file stands at the beginning: a date and the runtime's version.
bool looks_like_trace(std::string_view head);

// What stands before a broken place counts; it is a loss.
Trace read_trace(std::string_view bytes, CountedNotes& losses);

}  // namespace npuscope::hailo
