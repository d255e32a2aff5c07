#include "cli/query_shell.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <iostream>

#include "cli/suggestions.hpp"
#include "npuscope/query/database.hpp"

namespace npuscope::cli {
namespace {

constexpr std::size_t max_statement = 2 << 20;  // more than SQLite takes
constexpr const char* help =
    "  SELECT ...;      a query, over as many lines as it needs\n"
    "  .tables          tables and views\n"
    "  .schema [TABLE]  columns and what they mean\n"
    "  .quit            the end, as Ctrl-D\n";

class QueryShell {
 public:
  explicit QueryShell(const ShellAnswers& answers)
      : answers_(answers),
        is_terminal_(::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) {}

  ExitStatus run() {
    if (is_terminal_) print(stdout, "SQL that ends with ; or .help\n");
    std::string line;
    while (!ended_ && read_line(line)) take(line);
    if (!ended_) run_statement();  // what the end of the input cuts off may be whole
    if (is_terminal_ && !ended_) print(stdout, "\n");
    return is_terminal_ ? ExitStatus::done : status_;
  }

 private:
  bool read_line(std::string& line) {
    if (is_terminal_) print(stdout, "{}", statement_.empty() ? "npuscope> " : "     ...> ");
    std::fflush(stdout);
    return bool(std::getline(std::cin, line));
  }

  void take(const std::string& line) {
    const bool is_blank = line.find_first_not_of(" \t\r") == line.npos;
    if (statement_.empty() && (is_blank || line.starts_with('.'))) {
      if (!is_blank) run_command(line);
      return;
    }
    statement_ += line + "\n";
    if (statement_.size() > max_statement) {
      statement_.clear();
      status_ = report(Error{ErrorKind::usage, "the query has more than 2 MiB; shorten it"});
    } else if (query::is_complete(statement_)) {
      run_statement();
    }
  }

  void run_statement() {
    const std::string sql = std::move(statement_);
    statement_.clear();
    if (sql.find_first_not_of(" \t\r\n;") == sql.npos) return;
    if (const Status done = answers_.run(sql); !done) status_ = report(done.error());
  }

  void run_command(const std::string& line) {
    const std::string text = line.substr(0, line.find_last_not_of(" \t\r;") + 1);
    const std::string name = text.substr(0, text.find(' '));
    const auto at = text.find_last_of(' ');
    const std::string argument = at == text.npos ? "" : text.substr(at + 1);
    if (name == ".quit" || name == ".exit") {
      ended_ = true;
    } else if (name == ".help") {
      print(stdout, "{}", help);
    } else if (name == ".tables") {
      for (const std::string& table : answers_.tables()) print(stdout, "{}\n", table);
    } else if (name == ".schema") {
      const std::string schema = answers_.schema(argument);
      print(stdout, "{}", schema);
      if (schema.empty()) {
        status_ = report(
            Error{ErrorKind::usage, fmt::format("no table '{}'{}; .tables lists them", argument,
                                                meant_name(answers_.tables(), argument))});
      }
    } else {
      status_ =
          report(Error{ErrorKind::usage,
                       fmt::format("unknown command '{}'{}; .help lists them", name,
                                   meant_name({".help", ".tables", ".schema", ".quit"}, name))});
    }
  }

  const ShellAnswers& answers_;
  bool is_terminal_;
  bool ended_ = false;
  std::string statement_;
  ExitStatus status_ = ExitStatus::done;
};

}  // namespace

bool has_shell_input() {
  struct stat info {};
  return ::isatty(STDIN_FILENO) == 1 ||
         (::fstat(STDIN_FILENO, &info) == 0 &&
          (S_ISFIFO(info.st_mode) || S_ISREG(info.st_mode) || S_ISSOCK(info.st_mode)));
}

ExitStatus run_query_shell(const ShellAnswers& answers) { return QueryShell(answers).run(); }

}  // namespace npuscope::cli
