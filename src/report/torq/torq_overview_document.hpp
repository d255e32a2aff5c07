// Where the time of runs went: a section an overview, and what its rows mean.
#pragma once

#include <span>
#include <string>

#include "formats/torq/overview.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

Document overview_document(std::span<const torq::Overview> overviews, torq::OverviewStyle style);
// "Dma   any of DMA In, DMA Out and CDMA in use", a line each.
std::string overview_meanings(std::span<const torq::Overview> overviews, torq::OverviewStyle style);

}  // namespace npuscope::report
