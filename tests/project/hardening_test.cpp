// That the programs are built as docs/robustness.md says: what readelf finds in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "cli/program.hpp"
#include "sanitized.hpp"

namespace npuscope::hardening_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class Hardening : public testing::TestWithParam<std::string> {
 protected:
  static std::string readelf(const std::string& flags) {
    const std::string command = "LC_ALL=C readelf --wide " + flags + " '" + GetParam() + "' 2>&1";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    std::string said;
    for (int byte = std::fgetc(pipe); byte != EOF; byte = std::fgetc(pipe)) said += char(byte);
    EXPECT_EQ(::pclose(pipe), 0) << said;
    return said;
  }
};

TEST_P(Hardening, ProgramIsLoadedAtAnyAddress) {
  EXPECT_THAT(readelf("--file-header"), ContainsRegex("Type: +DYN"));
  EXPECT_THAT(readelf("--dynamic"), ContainsRegex("FLAGS_1.* PIE"));
}

TEST_P(Hardening, AddressesOfFunctionsAreBoundAtTheStartAndReadOnlyThen) {
  EXPECT_THAT(readelf("--program-headers"), HasSubstr("GNU_RELRO"));
  EXPECT_THAT(readelf("--dynamic"), HasSubstr("BIND_NOW"));
}

// Flags stand in columns: R, W, E.
TEST_P(Hardening, NothingIsBothWritableAndExecutable) {
  const std::string headers = readelf("--program-headers");
  EXPECT_THAT(headers, ContainsRegex("GNU_STACK.* RW  +0x"));
  EXPECT_THAT(headers, ContainsRegex("LOAD.* R E +0x"));
  EXPECT_THAT(headers, Not(ContainsRegex("(LOAD|GNU_STACK).* RWE +0x")));
}

TEST_P(Hardening, CodeIsTheSameAtAnyAddress) {
  EXPECT_THAT(readelf("--dynamic"), Not(HasSubstr("TEXTREL")));
}

TEST_P(Hardening, PreconditionsOfTheLibraryAreChecked) {
  EXPECT_THAT(readelf("--string-dump=.rodata"), HasSubstr("__n < this->size()"));
}

TEST_P(Hardening, FunctionsGuardTheirStackAndCopiesTheirLengths) {
  if (test_support::is_sanitized()) GTEST_SKIP() << "a sanitizer looks at both itself";
  const std::string symbols = readelf("--dyn-syms");
  EXPECT_THAT(symbols, HasSubstr("__stack_chk_fail"));
#ifndef NDEBUG  // no release build
  return;
#endif
  EXPECT_THAT(symbols, ContainsRegex(" __[a-z]+_chk@"));
}

INSTANTIATE_TEST_SUITE_P(Of, Hardening,
                         testing::Values(cli::npuscope_program(), cli::npuscope_model_program()),
                         [](const auto& program) {
                           return program.index == 0 ? "Npuscope" : "NpuscopeModel";
                         });

}  // namespace
}  // namespace npuscope::hardening_test
