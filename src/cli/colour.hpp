// Whether output is coloured: on a terminal, unless --color or the environment say otherwise
// (NO_COLOR, CLICOLOR_FORCE; https://no-color.org, https://bixense.com/clicolors).
#pragma once

#include <cstdint>

#include "cli/flags.hpp"
#include "report/document/terminal_text.hpp"

namespace npuscope::cli {

enum class ColourChoice : std::uint8_t { automatic, always, never };

// --color auto|always|never
void add_colour_option(Command& command, ColourChoice& choice);

// Of standard output.
report::Colour colour_of(ColourChoice choice);

}  // namespace npuscope::cli
