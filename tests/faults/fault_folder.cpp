#include "faults/fault_folder.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace npuscope::faults {
namespace {

namespace fs = std::filesystem;

// What ipu op-cost writes next to its log.
constexpr std::string_view next_to_input = "examples/sigmastar/new_log_ctrl0.json";

std::string contents(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// A file that the system refuses after its kind was seen is left out, and a warning says so.
bool says_what_is_missing(const cli::Outcome& outcome, const cli::Outcome& good) {
  constexpr std::string_view in_json = "\"severity\": \"warning\"";
  return outcome.errors.find("npuscope: warning: ") != outcome.errors.npos ||
         (outcome.output.find(in_json) != outcome.output.npos &&
          good.output.find(in_json) == good.output.npos);
}

}  // namespace

fs::path FaultFolder::folder_;

std::string preload_of_fail_call() {
  const auto build = std::filesystem::path(cli::npuscope_program()).parent_path();
  return "LD_PRELOAD=" + (build / "tests" / "libfail_call.so").string();
}

bool FaultFolder::is_full() { return std::getenv("NPUSCOPE_ALL_FAULTS") != nullptr; }

void FaultFolder::SetUpTestSuite() {
  folder_ = fs::temp_directory_path() / ("npuscope-faults-" + std::to_string(::getpid()));
  fs::create_directories(folder_);
  prepare_inputs(folder_);
  fs::copy(folder_, kept_inputs(), fs::copy_options::recursive);
}

void FaultFolder::TearDownTestSuite() {
  fs::remove_all(folder_);
  fs::remove_all(kept_inputs());
}

fs::path FaultFolder::kept_inputs() { return folder_.string() + "-inputs"; }

void FaultFolder::restore_inputs() {
  fs::remove_all(folder_);
  fs::copy(kept_inputs(), folder_, fs::copy_options::recursive);
}

// A store is changed where it lies. What must hold of it: where the command failed, the same
// command succeeds afterwards, and then the store has what it has where nothing failed.
std::string FaultFolder::rows_of_store(const WritingCommand& command, int status) {
  const auto run_here = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"-C", folder_.string(), cli::npuscope_program()});
    const cli::Outcome outcome = cli::run_program_at("/usr/bin/env", words);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return outcome.output;
  };
  if (status != 0) {
    fs::copy(kept_inputs(), folder_,
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    run_here(command.words);
  }
  return run_here({"fleet", "sql", store_output,
                   "SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM op_runs), "
                   "(SELECT count(*) FROM unit_runs), (SELECT count(*) FROM inferences)"});
}

Result FaultFolder::run(const WritingCommand& command, const std::vector<std::string>& around) {
  for (const char* name : {"out", "tmp"}) {
    fs::remove_all(folder_ / name);
    fs::create_directory(folder_ / name);
  }
  fs::remove(folder_ / next_to_input);
  std::vector<std::string> words{"-C", folder_.string(), "TMPDIR=" + (folder_ / "tmp").string()};
  words.insert(words.end(), around.begin(), around.end());
  words.push_back(command.program());
  words.insert(words.end(), command.words.begin(), command.words.end());
  Result result{cli::run_program_at("/usr/bin/env", words), {}, {}, {}};
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().lexically_relative(folder_).string();
    if (entry.path().filename().string().starts_with(".npuscope-")) {
      result.temporary.push_back(name);
    } else if (name.starts_with(store_output)) {  // with SQLite's files next to it
      continue;
    } else if (name.starts_with("out/") || name == next_to_input) {
      result.files[name] = contents(entry.path());
    }
  }
  if (std::ranges::find(command.words, store_output) != command.words.end()) {
    result.files[store_output] = rows_of_store(command, result.outcome.status);
  }
  for (const auto& entry : fs::directory_iterator(folder_ / "tmp")) {
    const bool is_empty = entry.is_regular_file() && entry.file_size() == 0;
    (is_empty ? result.empty_in_tmpdir : result.temporary).push_back(entry.path().string());
  }
  return result;
}

void FaultFolder::expect_ended_well(const WritingCommand& command, const Result& after,
                                    bool may_lack_input) {
  const cli::Outcome& outcome = after.outcome;
  // SQLite does not say whether its own limit or the system refused memory, nor whether a table
  // is missing because its file has just become shorter.
  const bool is_of_query =
      outcome.status == 2 &&
      (outcome.errors.find("SQL: the query needs more than") != outcome.errors.npos ||
       (may_lack_input && outcome.errors.find("SQL: no such table") != outcome.errors.npos));
  EXPECT_TRUE(outcome.status == 0 || outcome.status == 3 || outcome.status == 4 || is_of_query)
      << "status " << outcome.status << '\n'
      << outcome.errors;
  EXPECT_THAT(after.temporary, testing::IsEmpty());
  EXPECT_THAT(after.empty_in_tmpdir, testing::IsEmpty());
  if (outcome.status == 0) return;
  const std::string program = command.is_of_models ? "npuscope-model: " : "npuscope: ";
  EXPECT_THAT(lines_of(outcome.errors), testing::Contains(testing::StartsWith(program)));
}

void FaultFolder::expect_whole_or_absent(const WritingCommand& command, const Result& good,
                                         const Result& after, bool may_lack_input) {
  expect_ended_well(command, after, may_lack_input);
  const cli::Outcome& outcome = after.outcome;
  const bool may_differ =
      may_lack_input && (outcome.status == 3 || says_what_is_missing(outcome, good.outcome));
  for (const auto& [name, text] : after.files) {
    const auto whole = good.files.find(name);
    if (whole == good.files.end()) {
      ADD_FAILURE() << name << ": not an output";
    } else if (!may_differ) {
      EXPECT_TRUE(text == whole->second)
          << name << ": " << text.size() << " bytes instead of " << whole->second.size()
          << ", status " << outcome.status << '\n'
          << outcome.errors;
    }
  }
  if (outcome.status == 0) {
    EXPECT_EQ(after.files.size(), good.files.size()) << outcome.errors;
    EXPECT_TRUE(may_differ || outcome.output == good.outcome.output)
        << "printed with status 0:\n"
        << outcome.output.substr(0, 400) << '\n'
        << outcome.errors;
  }
}

void FaultFolder::expect_no_halves(const Result& good, const Result& after) {
  EXPECT_THAT(after.temporary, testing::IsEmpty());
  for (const auto& [name, text] : after.files) {
    const auto whole = good.files.find(name);
    ASSERT_NE(whole, good.files.end()) << name;
    EXPECT_TRUE(text == whole->second) << name << ": " << text.size() << " bytes";
  }
}

}  // namespace npuscope::faults
