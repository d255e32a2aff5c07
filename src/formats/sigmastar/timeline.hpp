// The layers of an IPU timeline, the JSON that performance_timeline.py and `npuscope ipu timeline`
// write, with the places where their indices stand in the text:
//
//   auto timeline = read_layer_timeline(*source);
//   timeline->layers[3]         core 0, index 3, from 12.5 us, 40 us, 36000 cycles
//   renumbered(*timeline, …)    the same text with other indices: new_<name>.json
//
// A layer is a complete event (phase X) with total_cycle or one of the *_cycle_percent arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::sigmastar {

// One run of a layer on one core.
struct LayerRun {
  std::uint32_t core = 0;
  std::int64_t start = 0;              // nanoseconds
  std::int64_t duration = 0;           // nanoseconds
  double cycles = -1;                  // -1: not said
  std::optional<std::uint64_t> index;  // of the layer, as the file counts
  std::string name;
};

// A part of the timeline's text.
struct TextPlace {
  std::uint64_t at = 0;
  std::uint32_t length = 0;  // 0: nowhere
};

struct LayerTimeline {
  std::string file;
  std::string text;              // sound JSON
  std::vector<LayerRun> layers;  // in file order
  // By layer: the digits of the index in its name, or, of no length, where the name begins; and
  // those of the index among its arguments.
  std::vector<TextPlace> name_places, index_places;
  std::uint32_t cores = 0;           // that ran any
  std::vector<Interval> inferences;  // of the core control, in nanoseconds; none: not logged
  bool is_incomplete = false;        // records are missing in its logs, as its writer says
  std::vector<Note> notes;
};

struct TimelineLimits {
  std::uint64_t text_bytes = std::uint64_t{1} << 30;
};

// An input error for text that is no JSON or has no layers: in half a timeline every share would
// be wrong, so it is refused. An array may lack its closing bracket, as the format allows.
Result<LayerTimeline> read_layer_timeline(ByteSource& source, const TimelineLimits& limits = {});

// The text with `index[i]` where the index of layer i stood; nothing else changes. A layer without
// an index gets it before its name. None: stays as it is.
std::string renumbered(const LayerTimeline& timeline,
                       std::span<const std::optional<std::uint32_t>> index);

}  // namespace npuscope::sigmastar
