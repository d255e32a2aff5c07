#include "cli/program.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace npuscope::cli {
namespace {

std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string take(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  std::filesystem::remove(path);
  return text.str();
}

std::string program_named(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / name;
}

// The tests that run in a GitHub job must not write into its log and summary.
[[maybe_unused]] const bool hides_github_job = [] {
  return ::unsetenv("GITHUB_ACTIONS") == 0 && ::unsetenv("GITHUB_STEP_SUMMARY") == 0;
}();

}  // namespace

const std::string& npuscope_program() {
  static const std::string path = program_named("npuscope");
  return path;
}

const std::string& npuscope_fleet_program() {
  static const std::string path = program_named("npuscope-fleet");
  return path;
}

const std::string& npuscope_model_program() {
  static const std::string path = program_named("npuscope-model");
  return path;
}

Outcome run_program_at(const std::string& program, const std::vector<std::string>& arguments,
                       const std::string& shell_suffix) {
  const auto base =
      std::filesystem::temp_directory_path() / ("npuscope-cli-" + std::to_string(::getpid()));
  const std::string output = base.string() + ".out";
  const std::string errors = base.string() + ".err";
  std::string command = quoted(program);
  for (const std::string& argument : arguments) command += " " + quoted(argument);
  command = "{ " + command + " " + shell_suffix + "; } </dev/null >" + quoted(output) + " 2>" +
            quoted(errors);
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) && WEXITSTATUS(status) < 128 ? WEXITSTATUS(status) : -1, take(output),
          take(errors)};
}

}  // namespace npuscope::cli
