// npuscope completion: the script with which a shell completes npuscope's commands, and, for the
// installation, the man pages.
#include <filesystem>
#include <functional>
#include <memory>

#include "cli/choices.hpp"
#include "cli/description.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::cli {
namespace {

enum class Shell : std::uint8_t { none, bash, zsh, fish };

std::string completion_of(Shell shell, const CommandDescription& program) {
  switch (shell) {
    case Shell::zsh: return zsh_completion(program);
    case Shell::fish: return fish_completion(program);
    case Shell::bash:
    case Shell::none: break;
  }
  return bash_completion(program);
}

Status write_man_pages(const CommandDescription& command, const std::filesystem::path& folder) {
  std::string name = command.path;
  for (char& c : name) c = c == ' ' ? '-' : c;
  const std::string page = man_page(command, NPUSCOPE_VERSION);
  if (auto done = write_file_atomically(folder / (name + ".1"), as_byte_span(page)); !done) {
    return done;
  }
  for (const CommandDescription& each : command.commands) {
    if (auto done = write_man_pages(each, folder); !done) return done;
  }
  return {};
}

}  // namespace

void add_completion_command(Command& program) {
  Command& command =
      program.command("completion", "Print the script with which a shell completes commands");
  const auto shell = std::make_shared<Shell>(Shell::none);
  const auto folder = std::make_shared<std::string>();
  add_choice<Shell>(command, "shell", *shell,
                    {{"bash", Shell::bash}, {"zsh", Shell::zsh}, {"fish", Shell::fish}},
                    "bash, zsh or fish");
  command.flag("--man-pages", *folder, "write the man pages into this folder instead")
      .called("DIR");
  command.action = [shell, folder, &program] {
    const CommandDescription all = describe(program);
    if (!folder->empty()) {
      const Status done = write_man_pages(all, *folder);
      return done ? ExitStatus::done : report(done.error());
    }
    if (*shell == Shell::none) {
      return report(Error{ErrorKind::usage, "name the shell: bash, zsh or fish"});
    }
    print(stdout, "{}", completion_of(*shell, all));
    return ExitStatus::done;
  };
}

}  // namespace npuscope::cli
