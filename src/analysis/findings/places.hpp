// Where the evidence of a finding lies on the timeline: the longest stretches of it; none where
// DiagnoseOptions::places does not ask for them.
//
//   finding.places = places_of_ops(context, context.ops_of(names));
//   finding.places = places_where(context, is_movement, is_compute);   // while nothing computes
#pragma once

#include <functional>
#include <vector>

#include "analysis/findings/context.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::analysis {

inline constexpr std::size_t max_places = 20;

// The longest of these, in the order of time.
std::vector<EvidencePlace> longest_places(std::vector<EvidencePlace> places);

// Executions of these ops; of the ops with a factor below one.
std::vector<EvidencePlace> places_of_ops(FindingContext& context, const std::vector<bool>& ops);
std::vector<EvidencePlace> places_of_ops(FindingContext& context,
                                         const std::vector<double>& factors);

using WhichSpans = std::function<bool(UnitId unit, const SpanOfUnit& span)>;

// When any of the first spans ran, and none of the second.
std::vector<EvidencePlace> places_where(FindingContext& context, const WhichSpans& ran,
                                        const WhichSpans& hid);

// When nothing worked.
std::vector<EvidencePlace> idle_places(FindingContext& context);

WhichSpans work_of(const Profile& profile, Domain domain);
WhichSpans any_work();
WhichSpans no_spans();

}  // namespace npuscope::analysis
