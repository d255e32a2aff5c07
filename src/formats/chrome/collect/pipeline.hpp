// Reading, parsing and collecting side by side: chunks are cut in order, parsed on all cores, and
// collected in order again. Few are under way at a time, so memory stays bounded.
#pragma once

#include <functional>
#include <optional>

#include "formats/chrome/collect/event_collector.hpp"
#include "formats/chrome/text/chunk.hpp"

namespace npuscope::chrome {

void collect_chunks(const std::function<std::optional<Chunk>()>& next, EventCollector& collector);

}  // namespace npuscope::chrome
