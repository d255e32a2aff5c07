// Runs the built programs as a user does and keeps what they say.
//
//   const Outcome outcome = run_npuscope({"qpc", "list", "missing.bin"});
//   EXPECT_EQ(outcome.status, 3);
//   EXPECT_EQ(outcome.errors, "npuscope: missing.bin: cannot open: ...\n");
#pragma once

#include <string>
#include <vector>

namespace npuscope::cli {

struct Outcome {
  int status = -1;     // exit status, or -1 when a signal ended the program
  std::string output;  // standard output
  std::string errors;  // standard error
};

// `shell_suffix` goes behind the quoted arguments, e.g. "> /dev/full".
Outcome run_program_at(const std::string& program, const std::vector<std::string>& arguments,
                       const std::string& shell_suffix = "");

// Of the build that the tests are of: in the folder above theirs.
const std::string& npuscope_program();
const std::string& npuscope_fleet_program();
const std::string& npuscope_model_program();

inline Outcome run_npuscope(const std::vector<std::string>& arguments,
                            const std::string& shell_suffix = "") {
  return run_program_at(npuscope_program(), arguments, shell_suffix);
}
inline Outcome run_npuscope_model(const std::vector<std::string>& arguments,
                                  const std::string& shell_suffix = "") {
  return run_program_at(npuscope_model_program(), arguments, shell_suffix);
}

}  // namespace npuscope::cli
