// Decoded IPU logs as the timeline JSON that chrome://tracing, `npuscope ipu op-cost` and every
// other command open:
//
//   const IpuTimeline timeline = join_logs(std::move(logs), *layout, 900e6);
//   write_timeline(timeline, {.chip = "ipu-muffin"}, sink);
//
//   process "core 0"   track "layers": an X event a layer, with index, total_cycle and the four
//                      *_cycle_percent; tracks "conv", "vector", "dma load", … : what they did
//                      and, where the log has tiles, arrows from what an engine waited for
//   process "corectrl" the inferences
//
// ts and dur are cycles / frequency, in microseconds to the nanosecond.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/sigmastar/log.hpp"
#include "formats/sigmastar/tile_edges.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::sigmastar {

struct IpuTimeline {
  std::vector<CoreLog> cores;  // times are since the earliest record of all
  std::vector<std::uint32_t> core_numbers;
  std::optional<CoreLog> control;
  double hertz = 0;
  bool related = true;  // false: each log begins at 0, because their clocks have no known relation
  TileEdges waits;      // among the cores' intervals; none where their clocks are not related
  bool is_incomplete = false;  // records of a log are missing; the timeline says so
};

// `core_numbers` are those of `cores`.
IpuTimeline join_logs(std::vector<CoreLog> cores, std::vector<std::uint32_t> core_numbers,
                      std::optional<CoreLog> control, const LogLayout& layout, double hertz);

// An input error where the logs cannot be of one run: the layers that the cores share ran on them
// at different times, or outside of what the core control logged.
Status check_one_run(const IpuTimeline& timeline);

struct TimelineWriting {
  std::string chip;
  bool layers_only = false;  // without the tracks of the engines
};

// `sink` takes the text in pieces of about a megabyte.
void write_timeline(const IpuTimeline& timeline, const TimelineWriting& options,
                    const std::function<void(std::string_view)>& sink);

}  // namespace npuscope::sigmastar
