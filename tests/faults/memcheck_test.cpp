// No command reads memory that was never written, writes beyond its own, or loses any: valgrind's
// memcheck, which also looks into the libraries that the sanitizers do not see.
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "faults/fault_folder.hpp"

namespace npuscope::faults::memcheck_test {
namespace {

class Memcheck : public FaultFolder {};

std::string text_of(const std::string& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST_F(Memcheck, FindsNothing) {
  const std::string log = (folder_ / "memcheck.log").string();
  const std::vector<std::string> memcheck{"valgrind",
                                          "--quiet",
                                          "--error-exitcode=99",
                                          "--leak-check=full",
                                          "--show-leak-kinds=definite",
                                          "--errors-for-leak-kinds=definite",
                                          "--suppressions=" NPUSCOPE_SOURCE_DIR
                                          "/tests/faults/memcheck.supp",
                                          "--log-file=" + log};
  if (cli::run_program_at("/usr/bin/env", {"valgrind", "--version"}).status != 0) {
    GTEST_SKIP() << "valgrind is not installed";
  }
  constexpr std::size_t step = 9;  // of the suite; ./dev faults Memcheck takes all
  for (std::size_t i = 0; i < writing_commands().size(); i += is_full() ? 1 : step) {
    const WritingCommand& command = writing_commands()[i];
    SCOPED_TRACE(command.text());
    const Result good = run(command);
    const Result after = run(command, memcheck);
    EXPECT_EQ(after.outcome.status, 0) << after.outcome.errors << text_of(log);
    EXPECT_TRUE(after.outcome.output == good.outcome.output) << after.outcome.output;
    EXPECT_TRUE(after.files == good.files);
  }
}

}  // namespace
}  // namespace npuscope::faults::memcheck_test
