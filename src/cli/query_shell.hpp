// The lines that `npuscope query FILES` reads when no query is given: SQL that ends with a
// semicolon, over as many lines as it needs, and commands that begin with a dot.
//
//   npuscope> SELECT count(*) FROM ops;
//   npuscope> .tables
#pragma once

#include <functional>
#include <string>

#include "cli/command.hpp"

namespace npuscope::cli {

struct ShellAnswers {
  std::function<Status(const std::string& sql)> run;            // prints
  std::function<std::string(const std::string& table)> schema;  // of all; empty: no such
  std::function<std::vector<std::string>()> tables;
};

// Whether standard input is a terminal or a pipe, which may hold lines.
bool has_shell_input();

// Until the end of the input or .quit. An error does not end it; of a pipe the last one is the
// status.
ExitStatus run_query_shell(const ShellAnswers& answers);

}  // namespace npuscope::cli
