// npuscope query: SQL over profiles.
#include <algorithm>
#include <cctype>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "base/standard_streams.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "cli/choices.hpp"
#include "cli/command.hpp"
#include "cli/profiles.hpp"
#include "cli/query_rows.hpp"
#include "cli/standard_input.hpp"
#include "npuscope/query/database.hpp"
#include "query/schema.hpp"
#include "report/query/query_output.hpp"

namespace npuscope::cli {
namespace {

// The lines that `npuscope query FILES` reads when no query is given: SQL that ends with a
// semicolon, over as many lines as it needs, and commands that begin with a dot.
//
//   npuscope> SELECT count(*) FROM ops;
//   npuscope> .tables
struct ShellAnswers {
  std::function<Status(const std::string& sql)> run;            // prints
  std::function<std::string(const std::string& table)> schema;  // of all; empty: no such
  std::function<std::vector<std::string>()> tables;
};

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
        is_terminal_(npuscope::is_terminal(StandardStream::input) &&
                     is_terminal(StandardStream::output)) {}

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

// Whether standard input is a terminal or a pipe, which may hold lines.
bool has_shell_input() { return kind_of_standard_input() != InputKind::other; }

// Until the end of the input or .quit. An error does not end it; of a pipe the last one is the
// status.
ExitStatus run_query_shell(const ShellAnswers& answers) { return QueryShell(answers).run(); }

struct QueryOptions : ProfileOptions, RowOptions {
  std::string sql;
  std::string sql_file;
  std::vector<std::string> names;
};

struct Named {
  std::string name;  // empty: by its place
  Profile profile;
  std::string selection;
};

// `npuscope query trace.json 'SELECT ...'`: the last of the files, where it is none, and reads as
// SQL does.
void take_last_as_sql(QueryOptions& options) {
  if (!options.sql.empty() || !options.sql_file.empty() || options.files.empty()) return;
  const std::string& last = options.files.back();
  std::string word = last.substr(0, last.find_first_of(" \t\n("));
  for (char& c : word) c = char(std::toupper(static_cast<unsigned char>(c)));
  std::error_code unknown;
  const bool is_sql = word.size() < last.size() &&
                      (word == "SELECT" || word == "WITH" || word == "VALUES" || word == "EXPLAIN");
  if (!is_sql || std::filesystem::exists(last, unknown)) return;
  options.sql = last;
  options.files.pop_back();
}

Result<std::string> read_sql(const QueryOptions& options) {
  if (options.sql.empty() == options.sql_file.empty()) {
    return usage_error(
        "give one query: 'SELECT ...' after the files, --sql - for standard input, or -f "
        "FILE; --schema lists what can be asked");
  }
  if (options.sql_file.empty() && options.sql != "-") return options.sql;
  const bool from_input = options.sql == "-" || options.sql_file == "-";
  std::ifstream file;
  if (!from_input) {
    file.open(options.sql_file, std::ios::binary);
    if (!file) return input_error("{}: cannot open; check the name", options.sql_file);
  }
  std::istream& stream = from_input ? std::cin : file;
  constexpr std::size_t max = 2 << 20;  // more than SQLite takes
  std::string text(max, '\0');
  stream.read(text.data(), std::streamsize(max));
  if (stream.bad()) {
    return input_error("{}: cannot read; check what it is",
                       from_input ? "standard input" : options.sql_file);
  }
  text.resize(std::size_t(stream.gcount()));
  return text;
}

// NAME=FILE opens FILE by itself; the other files are opened together, because several may be one
// profile.
Result<std::vector<Named>> open_named(const QueryOptions& options, std::vector<Note>& notes) {
  std::vector<Named> profiles;
  QueryOptions part = options;
  part.files.clear();
  const auto open = [&](const std::string& name) -> Status {
    if (part.files.empty()) return {};
    TRY_AS(selected, open_selected(part));
    if (!name.empty() && selected->parts.size() > 1) {
      return usage_error("{}={}: holds {} profiles; name each by its file", name, part.files[0],
                         selected->parts.size());
    }
    for (report::ProfilePart& opened : selected->parts) {
      profiles.push_back({name, std::move(opened.profile), std::move(opened.text)});
    }
    notes.insert(notes.end(), selected->notes.begin(), selected->notes.end());
    part.files.clear();
    return {};
  };
  for (const std::string& file : options.files) {
    const std::size_t equals = file.find('=');
    std::error_code unknown;
    if (equals == file.npos || std::filesystem::exists(file, unknown)) {
      part.files.push_back(file);
      continue;
    }
    TRY(open(""));
    TRY_AS(path, input_file(file.substr(equals + 1)));
    part.files = {*path};
    TRY(open(file.substr(0, equals)));
  }
  TRY(open(""));
  return profiles;
}

Status give_names(std::vector<Named>& profiles, const std::vector<std::string>& names) {
  if (names.size() > profiles.size()) {
    return usage_error("--as {}: there are only {} profiles to name", names.back(),
                       profiles.size());
  }
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    if (i < names.size()) profiles[i].name = names[i];
    if (profiles[i].name.empty()) profiles[i].name = std::string(1, char('a' + i % 26));
  }
  return {};
}

// Which profile is called what, when that is not plain.
void print_names(const std::vector<Named>& profiles) {
  if (profiles.size() < 2) return;
  for (const Named& named : profiles) {
    const auto& files = named.profile.provenance.files;
    print(stdout, "{}: {}\n", named.name, printable(files.empty() ? "" : files.front()));
  }
  print(stdout, "\n");
}

std::string json_head_of(const std::vector<Named>& profiles, const std::vector<Note>& notes) {
  std::vector<report::QueriedProfile> queried;
  for (const Named& named : profiles) {
    queried.push_back({named.name, named.selection, &named.profile});
  }
  return report::query_json_head(running_command(), queried, notes);
}

Status print_rows(const QueryOptions& options, query::Database& database, std::string_view sql,
                  const std::vector<Named>& profiles, const std::vector<Note>& notes,
                  HardStop& stop) {
  return print_query_rows(
      options,
      {[&](query::RowSink& sink) { return database.run(sql, sink); },
       [&] { return json_head_of(profiles, notes); }, [&] { print_names(profiles); }},
      stop);
}

ExitStatus run_shell(const QueryOptions& options, query::Database& database,
                     const std::vector<Named>& profiles, const std::vector<Note>& notes,
                     const query::Limits& limits) {
  const auto tables = [] {
    std::vector<std::string> names;
    for (const query::TableInfo& table : query::schema()) names.push_back(table.name);
    return names;
  };
  return run_query_shell({[&](const std::string& sql) {
                            HardStop stop(last_moment(limits.time), query::out_of_time(limits));
                            return print_rows(options, database, sql, profiles, notes, stop);
                          },
                          [&](const std::string& table) {
                            return report::query_schema_text(query::schema(), row_width(options),
                                                             table);
                          },
                          tables});
}

Result<ExitStatus> answer(QueryOptions options) {
  take_last_as_sql(options);
  if (options.files.empty()) {
    return usage_error("name the files to query; --schema lists what can be asked");
  }
  TRY_AS(limits, limits_of(options));
  const bool is_shell = options.sql.empty() && options.sql_file.empty() && has_shell_input();
  TRY_AS(sql, is_shell ? Result<std::string>() : read_sql(options));
  std::vector<Note> notes;
  TRY_AS(profiles, open_named(options, notes));
  TRY(give_names(*profiles, options.names));
  std::vector<query::NamedProfile> views;
  for (const Named& named : *profiles) views.push_back({named.name, &named.profile});
  TRY_AS(database, query::Database::open(views, *limits));
  if (is_shell) {
    print_notes(notes);
    const ExitStatus status = run_shell(options, *database, *profiles, notes, *limits);
    return status == ExitStatus::done ? status_of(options, notes) : status;
  }
  HardStop stop(last_moment(limits->time), query::out_of_time(*limits));
  const Status done = print_rows(options, *database, *sql, *profiles, notes, stop);
  print_notes(notes);
  if (!done) return tl::unexpected(done.error());
  return status_of(options, notes);
}

ExitStatus run_query(const QueryOptions& options) {
  if (options.schema) return print_query_schema(options, query::schema());
  const Result<ExitStatus> answered = answer(options);
  return answered ? *answered : report(answered.error());
}

}  // namespace

void add_query_command(Command& program) {
  Command& command = program.command("query", "SQL over profiles");
  const auto options = std::make_shared<QueryOptions>();
  add_profile_options(command, *options);
  add_part_options(command, *options);
  options->joins_runs = true;
  command.flag("files").required(false).describe(
      "files and folders of any format, NAME=FILE to name a profile; then the query: 'SELECT ...'");
  command.flag("--to,--until", options->selection.until, "end of the window");
  command.flag("--sql", options->sql, "the query; - reads standard input");
  command.flag("-f,--file", options->sql_file, "a file with the query").excludes("--sql");
  command.flag("--as", options->names, "names of the profiles, in their order: a, b, ...")
      .one_each()
      .separated_by(',');
  add_row_options(command, *options);
  command.action = [options] { return run_query(*options); };
}

}  // namespace npuscope::cli
