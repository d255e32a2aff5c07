// `npuscope torq overview`: where the time of runs went, from whichever files say so.
//
//   const auto overviews = torq_overviews(*sort_torq_files({"run.pb"}), std::nullopt);
//   print_overview(overviews->overviews, torq::OverviewStyle::documented);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/torq/overview.hpp"
#include "jobs/torq/torq_files.hpp"

namespace npuscope::jobs {

struct TorqOverviews {
  std::vector<torq::Overview> overviews;
  std::vector<Note> notes;
};
// One for each runtime log, annotated table and trace, reckoned as the style has it. `wall_time` is
// a file with seconds.
Result<TorqOverviews> torq_overviews(const TorqFiles& files,
                                     const std::optional<std::string>& wall_time,
                                     torq::OverviewStyle style = torq::OverviewStyle::documented);

}  // namespace npuscope::jobs
