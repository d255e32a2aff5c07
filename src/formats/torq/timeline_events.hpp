// The words of timelines, read and written.
#pragma once

#include <array>
#include <string_view>

#include "formats/torq/timeline.hpp"

namespace npuscope::torq {

inline constexpr std::string_view timeline_header =
    "taskId, elapsed_time(us), timestamp(us), event, location, bytes\n";

// What the versions call each event; an id is a prefix and numbers.
struct EventNames {
  TimelineEvent event;
  std::string_view id_prefix;
  std::string_view type;   // beside ids
  std::string_view label;  // with a header
};
inline constexpr std::array event_names{
    EventNames{TimelineEvent::dma_in, "DI", "DMA_IN", "DMA In"},
    EventNames{TimelineEvent::dma_out, "DO", "DMA_OUT", "DMA Out"},
    EventNames{TimelineEvent::cdma_lram_to_dtcm, "CDMA_L2D", "CDMA_LRAM_TO_DTCM",
               "CDMA LRAM to DTCM"},
    EventNames{TimelineEvent::cdma_lram_to_itcm, "CDMA_L2I", "CDMA_LRAM_TO_ITCM",
               "CDMA LRAM to ITCM"},
    EventNames{TimelineEvent::cdma_dtcm_to_lram, "CDMA_D2L", "CDMA_DTCM_TO_LRAM",
               "CDMA DTCM to LRAM"},
    EventNames{TimelineEvent::css, "CSS", "CSS", "CSS"},
    EventNames{TimelineEvent::slice, "S", "", "Slice"},
};

}  // namespace npuscope::torq
