#include "cli/terminal.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/process.hpp"
#include "base/text.hpp"
#include "cli/choices.hpp"
#include "cli/command.hpp"
#include "cli/environment.hpp"

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
  return with(!is_dumb && is_terminal(StandardStream::output));
}

namespace {

// Empty: none is asked for.
std::string pager_of(bool wanted) {
  if (const std::string own = environment("NPUSCOPE_PAGER"); !own.empty()) return own;
  if (!wanted) return {};
  const std::string usual = environment("PAGER");
  return usual.empty() ? "less -R" : usual;
}

}  // namespace

void add_pager_option(Command& command, bool& pager) {
  command.flag("--pager", pager,
               "show the page in NPUSCOPE_PAGER, else PAGER, else less -R, on a terminal");
}

void print_page(const std::string& text, bool wants_pager) {
  const std::string pager =
      is_terminal(StandardStream::output) ? pager_of(wants_pager) : std::string();
  if (!pager.empty()) {
    std::fflush(stdout);
    if (run_with_input(pager, text)) return;
    print(stderr, "npuscope: note: pager '{}' cannot be started; set NPUSCOPE_PAGER or PAGER\n",
          printable(pager));
  }
  print(stdout, "{}", text);
}

}  // namespace npuscope::cli
