// How boxes and lines of a drawn graph look, whatever the language.
#pragma once

#include <string>

#include "report/graph/graph_drawing.hpp"

namespace npuscope::report {

int thickness_of(std::uint64_t bytes);
std::string second_line(const Drawing& drawing, const DrawnNode& node);

}  // namespace npuscope::report
