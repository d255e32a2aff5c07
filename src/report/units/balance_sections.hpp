// How work is spread over hardware of one kind: sections of `npuscope units`.
#pragma once

#include <string>
#include <vector>

#include "npuscope/analysis/analysis.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

// "UNITS, in cycles"; the title alone where ticks are shown as time.
std::string title_in_ticks(const Profile& profile, const std::string& title);

Section imbalance_section(const analysis::Analysis& analysis);
Section one_core_section(const analysis::Analysis& analysis,
                         const std::vector<analysis::OneCoreOp>& ops, std::size_t max_rows);
Section peers_section(const Profile& profile);  // transfers between devices

}  // namespace npuscope::report
