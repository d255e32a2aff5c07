#include "cli/terminal.hpp"

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

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
  return with(!is_dumb && ::isatty(STDOUT_FILENO) == 1);
}

namespace {

constexpr int not_executable = 126, not_found = 127;  // of the shell

// Empty: none is asked for.
std::string pager_of(bool wanted) {
  if (const std::string own = environment("NPUSCOPE_PAGER"); !own.empty()) return own;
  if (!wanted) return {};
  const std::string usual = environment("PAGER");
  return usual.empty() ? "less -R" : usual;
}

// Whether the pager ran, however the reader left it.
bool show_in(const std::string& pager, const std::string& text) {
  // A pager that is left before the end closes the pipe, which is no failure.
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  std::FILE* pipe = ::popen(pager.c_str(), "w");
  int status = -1;
  if (pipe != nullptr) {
    std::fwrite(text.data(), 1, text.size(), pipe);
    status = ::pclose(pipe);
  }
  std::signal(SIGPIPE, before);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return status != -1 && code != not_executable && code != not_found;
}

}  // namespace

void add_pager_option(Command& command, bool& pager) {
  command.flag("--pager", pager,
               "show the page in NPUSCOPE_PAGER, else PAGER, else less -R, on a terminal");
}

void print_page(const std::string& text, bool wants_pager) {
  const std::string pager = ::isatty(STDOUT_FILENO) == 1 ? pager_of(wants_pager) : std::string();
  if (!pager.empty()) {
    std::fflush(stdout);
    if (show_in(pager, text)) return;
    print(stderr, "npuscope: note: pager '{}' cannot be started; set NPUSCOPE_PAGER or PAGER\n",
          printable(pager));
  }
  print(stdout, "{}", text);
}

}  // namespace npuscope::cli
