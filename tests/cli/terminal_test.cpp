// What the program does on a terminal: a pseudo terminal is one.
#include <gmock/gmock.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <map>

#include "cli/trace_folder.hpp"

namespace npuscope::cli::terminal_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct OnTerminal {
  int status = -1;
  std::string shown;
};

// Standard output and error are a terminal of 100 columns.
OnTerminal run_on_terminal(const std::vector<std::string>& arguments,
                           const std::map<std::string, std::string>& environment) {
  winsize size{};
  size.ws_col = 100;
  size.ws_row = 30;
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    for (const char* name : {"NPUSCOPE_PAGER", "PAGER", "NO_COLOR"}) ::unsetenv(name);
    ::setenv("TERM", "dumb", 1);
    for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> words{const_cast<char*>(npuscope_program().c_str())};
    for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::execv(words[0], words.data());
    ::_exit(99);
  }
  OnTerminal outcome;
  char buffer[4'096];
  for (ssize_t length; (length = ::read(terminal, buffer, sizeof buffer)) > 0;) {
    outcome.shown.append(buffer, std::size_t(length));
  }
  ::close(terminal);
  int status = 0;
  ::waitpid(child, &status, 0);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

class Terminal : public TraceFolder {
 protected:
  OnTerminal show(const std::vector<std::string>& flags,
                  const std::map<std::string, std::string>& environment = {}) const {
    std::vector<std::string> arguments{"show", path("trace.json")};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return run_on_terminal(arguments, environment);
  }
};

constexpr const char* marking = "sed s/^/paged:/";

TEST_F(Terminal, APageGoesThroughAPagerWhenAsked) {
  const OnTerminal plain = show({}, {{"PAGER", marking}});
  EXPECT_EQ(plain.status, 0);
  EXPECT_THAT(plain.shown, StartsWith(path("trace.json")));
  EXPECT_THAT(plain.shown, Not(HasSubstr("paged:")));
  const OnTerminal asked = show({"--pager"}, {{"PAGER", marking}});
  EXPECT_EQ(asked.status, 0);
  EXPECT_THAT(asked.shown, StartsWith("paged:" + path("trace.json")));
  EXPECT_THAT(show({}, {{"NPUSCOPE_PAGER", marking}}).shown, StartsWith("paged:"));
}

TEST_F(Terminal, APagerThatIsLeftEarlyHasBeenReadEnough) {
  const OnTerminal left = show({"--pager", "--full"}, {{"PAGER", "head -n 1"}});
  EXPECT_EQ(left.status, 0);
  EXPECT_THAT(left.shown, StartsWith(path("trace.json")));
  EXPECT_THAT(left.shown, Not(HasSubstr("note")));
  EXPECT_EQ(show({"--pager", "--full"}, {{"PAGER", "exit 3"}}).status, 0);
}

TEST_F(Terminal, APagerThatIsMissingIsNamedAndThePagePrinted) {
  const OnTerminal missing = show({"--pager"}, {{"PAGER", "no-such-pager"}});
  EXPECT_EQ(missing.status, 0);
  EXPECT_THAT(missing.shown, HasSubstr("note: pager 'no-such-pager' cannot be started"));
  EXPECT_THAT(missing.shown, HasSubstr("WHERE THE TIME GOES"));
}

TEST_F(Terminal, ThePagerDoesNotChangeTheExitStatus) {
  const OnTerminal failed = run_on_terminal({"show", path("missing.json"), "--pager"}, {});
  EXPECT_EQ(failed.status, 3);
}

TEST_F(Terminal, APipeHasNoPager) {
  ::setenv("NPUSCOPE_PAGER", marking, 1);
  const Outcome outcome = run_npuscope({"show", path("trace.json")});
  ::unsetenv("NPUSCOPE_PAGER");
  EXPECT_THAT(outcome.output, StartsWith(path("trace.json")));
}

}  // namespace
}  // namespace npuscope::cli::terminal_test
