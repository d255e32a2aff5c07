// Gates as the log of a GitHub job shows them.
#pragma once

#include <string>
#include <vector>

#include "report/compare/judgement.hpp"

namespace npuscope::report {

// A workflow command for each gate that did not pass: those that failed, then those without an
// outcome, then those that could not be judged.
//
//   ::error title=wall > +3%::gate 'wall > +3%25' failed: 64,829 -> 70,015 cycles, +8.0 %25
std::vector<std::string> github_annotations(const Judgement& judgement);

}  // namespace npuscope::report
