// A unit whose spans stand for several threads that work side by side, as where a trace shows the
// threads of a group on one track: their number is a measure of the unit.
#pragma once

#include <string_view>

namespace npuscope {

inline constexpr std::string_view threads_of_unit = "threads";  // Measure::what

}  // namespace npuscope
