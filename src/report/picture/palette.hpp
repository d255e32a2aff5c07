// Colours by meaning, the same in every picture and in the report's page
// (web/src/style/colours.css).
//
//   engine_colour(Engine::hmx)    "#d0480c", the strongest
//   shade(0, 7)                   "#011959": the first of seven things that have no colour of their
//   own heat_colour(0.4)              of a thing that took 40 % of the time
//
// Shades differ in lightness, so that they print in grey and everybody tells them apart (batlow,
// F. Crameri, Scientific colour maps, 2018).
#pragma once

#include <cstddef>
#include <string>

#include "npuscope/profile/profile.hpp"

namespace npuscope::report {

const char* engine_colour(Engine engine);

inline constexpr const char* wait_colour = "#c3c9cf";  // light: a wait is no work
inline constexpr const char* more_colour = "#b3261e";  // of what got slower
inline constexpr const char* less_colour = "#0b7a4b";

// Of `count` things the one with this number, as far apart from one another as the map allows.
const char* shade(std::size_t number, std::size_t count);

// From white to the colour of the hottest, by a share of 0 to 1; dark text can be read on it.
std::string heat_colour(double share);

}  // namespace npuscope::report
