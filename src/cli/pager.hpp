// Pages through a pager, when asked: --pager, or NPUSCOPE_PAGER, which names one. It is
// NPUSCOPE_PAGER, else PAGER, else "less -R", run by the shell, and only where standard output is a
// terminal.
#pragma once

#include <string>

#include "cli/flags.hpp"

namespace npuscope::cli {

void add_pager_option(Command& command, bool& pager);

// Prints text as asked. A pager that the reader leaves early has read enough; one that cannot be
// started is named in a note, and the text is printed as it is.
void print_page(const std::string& text, bool wants_pager);

}  // namespace npuscope::cli
