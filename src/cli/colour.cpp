#include "cli/colour.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "cli/choices.hpp"

namespace npuscope::cli {
namespace {

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

}  // namespace

void add_colour_option(Command& command, ColourChoice& choice) {
  add_choice<ColourChoice>(command, "--color", choice,
                           {{"auto", ColourChoice::automatic},
                            {"always", ColourChoice::always},
                            {"never", ColourChoice::never}},
                           "auto: on a terminal, unless NO_COLOR is set");
}

report::Colour colour_of(ColourChoice choice) {
  const auto with = [](bool colour) {
    return colour ? report::Colour::ansi : report::Colour::none;
  };
  if (choice != ColourChoice::automatic) return with(choice == ColourChoice::always);
  const char* no_colour = std::getenv("NO_COLOR");
  if (no_colour != nullptr && *no_colour != '\0') return report::Colour::none;
  if (is_set("CLICOLOR_FORCE")) return report::Colour::ansi;
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return with(!is_dumb && ::isatty(STDOUT_FILENO) == 1);
}

}  // namespace npuscope::cli
