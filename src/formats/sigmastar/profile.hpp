// IPU timelines (Chrome Trace Event JSON of performance_timeline.py or `npuscope ipu timeline`) as
// profiles, and what the fixed model knows about their layers:
//
//   auto events = chrome::read_events(*source);
//   if (is_ipu_timeline(*events)) profile = make_ipu_profile(std::move(*events));
//   add_model(profile, *model);     // a layer's kind is its operator's type, CONV_2D
//
//   track of layers          unit core 0, an op span for each layer
//   tracks conv, vector, scalar, dma load, dma store (npuscope's own timelines)
//                            units of that core with the spans of these engines; a layer is then an
//                            asynchronous slice around them
//   conv_cycle_percent …     measures of each layer, "conv busy" in cycles; of each core, the sums
//                            and their percentages of the sum of its layers
//
// The base clock counts cycles where total_cycle and dur agree on its rate for every layer, else
// nanoseconds. The percentages overlap: the engines run side by side.
#pragma once

#include "formats/chrome/events.hpp"
#include "formats/sigmastar/model.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::sigmastar {

inline constexpr const char* timeline_format = "SigmaStar IPU timeline";

// Whether any event has one of the *_cycle_percent arguments.
bool is_ipu_timeline(const chrome::Events& events);

Profile make_ipu_profile(chrome::Events&& events);

// Ops get type, index and output of the operator that each layer is; how they were matched becomes
// a note. An input error where the layers are not the model's.
Status add_model(Profile& profile, const Model& model, const std::string& model_name);

}  // namespace npuscope::sigmastar
