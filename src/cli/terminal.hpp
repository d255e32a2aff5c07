// Output on a terminal: its colours, and the pager that it goes through.
#pragma once

#include <cstdint>
#include <string>

#include "cli/flags.hpp"
#include "report/document/text_table.hpp"

namespace npuscope::cli {

// Whether output is coloured: on a terminal, unless --color or the environment say otherwise
// (NO_COLOR, CLICOLOR_FORCE; https://no-color.org, https://bixense.com/clicolors).
enum class ColourChoice : std::uint8_t { automatic, always, never };

// --color auto|always|never
void add_colour_option(Command& command, ColourChoice& choice);

// Of standard output.
report::Colour colour_of(ColourChoice choice);

// Pages through a pager, when asked: --pager, or NPUSCOPE_PAGER, which names one. It is
// NPUSCOPE_PAGER, else PAGER, else "less -R", run by the shell, and only where standard output is a
// terminal.

void add_pager_option(Command& command, bool& pager);

// Prints text as asked. A pager that the reader leaves early has read enough; one that cannot be
// started is named in a note, and the text is printed as it is.
void print_page(const std::string& text, bool wants_pager);

}  // namespace npuscope::cli
