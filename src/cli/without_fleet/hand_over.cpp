#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/process.hpp"
#include "cli/fleet_part.hpp"
#include "fleet/place/store_place.hpp"

namespace npuscope::cli {
namespace {

constexpr const char* other_program = "npuscope-fleet";

// Next to this program; where the system does not say where that is, as the shell finds it.
std::string path_of_other(const char* own_name) {
  std::filesystem::path own = path_of_this_program();
  if (own.empty() && std::string_view(own_name).find('/') != std::string_view::npos) own = own_name;
  return own.empty() ? other_program : own.replace_filename(other_program).string();
}

bool needs_store(int argc, char** argv) {
  if (argc < 2) return false;
  const std::string_view command = argv[1];
  if (command == "fleet") return true;
  if (command == "help") return argc > 2 && std::string_view(argv[2]) == "fleet";
  return command == "report" &&
         std::any_of(argv + 2, argv + argc, [](const char* word) { return fleet::is_store(word); });
}

ExitStatus cannot_start(const std::string& command, const std::string& path, int error) {
  const std::string why = error == ENOENT
                              ? "is not next to npuscope"
                              : "cannot be started: " + std::string(std::strerror(error));
  return report(Error{ErrorKind::input,
                      command + ": " + other_program + ", the program of this command, " + why +
                          (error == ENOENT ? "" : " (" + path + ")") +
                          "; install npuscope again, or build it with ./dev build release " +
                          other_program});
}

}  // namespace

std::optional<ExitStatus> hand_over_to_fleet(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  const bool may_stay = command == "completion" || command == "help";
  if (command != "completion" && !needs_store(argc, argv)) return std::nullopt;
  const std::string path = path_of_other(argv[0]);
  const int error = replace_this_program(path, argv);
  if (may_stay) return std::nullopt;
  return cannot_start(command, path, error);
}

void add_fleet_command(Command& program) {
  program.command("fleet", "A store of thousands of runs, and questions about them");
}

Status add_fleet_tab(const FleetTabOptions&, const std::string& store, std::size_t,
                     report::ReportPage&) {
  return input_error("{}: a store that was none when npuscope started; try again",
                     fleet::store_name(store));
}

}  // namespace npuscope::cli
