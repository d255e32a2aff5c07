#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>

#include "cli/choices.hpp"
#include "cli/description.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::cli {
namespace {

using Visit = std::function<void(const CommandDescription&, const std::string& words)>;

// Every command with the words behind the program's name: "", "show", "qpc list".
void visit(const CommandDescription& command, const Visit& each, const std::string& words = {}) {
  each(command, words);
  for (const CommandDescription& below : command.commands) {
    visit(below, each, words.empty() ? below.name : words + " " + below.name);
  }
}

std::string names_of(const CommandDescription& command) {
  std::vector<std::string> names;
  for (const CommandDescription& each : command.commands) names.push_back(each.name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string flags_of(const CommandDescription& command) {
  std::vector<std::string> flags;
  for (const FlagDescription& flag : command.flags) {
    if (!flag.is_place) flags.insert(flags.end(), flag.names.begin(), flag.names.end());
  }
  flags.push_back("--help");
  return fmt::format("{}", fmt::join(flags, " "));
}

// What bash offers for a value: words, or a kind of file.
std::string bash_offer(const FlagDescription& flag) {
  switch (flag.value.kind) {
    case ValueKind::words: return fmt::format("{}", fmt::join(flag.value.words, " "));
    case ValueKind::file: return "@file";
    case ValueKind::folder: return "@folder";
    case ValueKind::text: return "@nothing";
    case ValueKind::none: break;
  }
  return {};
}

// That its places take, where they are no files.
std::vector<std::string> words_of_places(const CommandDescription& command) {
  for (const FlagDescription& flag : command.flags) {
    if (flag.is_place && flag.value.kind == ValueKind::words) return flag.value.words;
  }
  return {};
}

std::string without(std::string text, std::string_view characters) {
  std::erase_if(text, [&](char c) { return characters.find(c) != characters.npos; });
  return text;
}

std::string zsh_value(const FlagDescription& flag) {
  switch (flag.value.kind) {
    case ValueKind::words: return fmt::format(":value:({})", fmt::join(flag.value.words, " "));
    case ValueKind::file: return ":file:_files";
    case ValueKind::folder: return ":folder:_files -/";
    case ValueKind::text: return ":" + without(flag.value.word, ":'[]() ") + ": ";
    case ValueKind::none: break;
  }
  return {};
}

}  // namespace

std::string bash_completion(const CommandDescription& program) {
  std::string commands, places, flags, values;
  visit(program, [&](const CommandDescription& command, const std::string& words) {
    if (!command.commands.empty()) {
      commands += fmt::format("    '{}') echo '{}' ;;\n", words, names_of(command));
    }
    if (const auto taken = words_of_places(command); !taken.empty()) {
      places += fmt::format("    '{}') echo '{}' ;;\n", words, fmt::join(taken, " "));
    }
    flags += fmt::format("    '{}') echo '{}' ;;\n", words, flags_of(command));
    for (const FlagDescription& flag : command.flags) {
      const std::string offer = bash_offer(flag);
      if (flag.is_place || offer.empty()) continue;
      std::vector<std::string> cases;
      for (const std::string& name : flag.names)
        cases.push_back(fmt::format("'{} {}'", words, name));
      values += fmt::format("    {}) echo '{}' ;;\n", fmt::join(cases, "|"), offer);
    }
  });
  const std::string name = program.name, function = "_" + name;
  return fmt::format(
      R"sh(# bash completion for {0}: source it, or put it into
# ~/.local/share/bash-completion/completions/{0}
{1}_commands() {{
  case "$1" in
{2}  esac
}}
{1}_places() {{
  case "$1" in
{3}  esac
}}
{1}_flags() {{
  case "$1" in
{4}  esac
}}
{1}_values() {{
  case "$1" in
{5}  esac
}}
{1}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command='' word i offer
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${{COMP_WORDS[i]}}
    case " $({1}_commands "$command") " in
      *" $word "*) command=${{command:+$command }}$word ;;
    esac
  done
  if [[ $current == '=' ]]; then current=''; fi
  if [[ $before == '=' ]]; then before=${{COMP_WORDS[COMP_CWORD-2]}}; fi
  if [[ ${{COMP_WORDS[COMP_CWORD]}} == '=' ]]; then before=${{COMP_WORDS[COMP_CWORD-1]}}; fi
  COMPREPLY=()
  offer=$({1}_values "$command $before")
  if [[ -z $offer && $current == -* ]]; then
    COMPREPLY=($(compgen -W "$({1}_flags "$command")" -- "$current"))
    return
  fi
  if [[ -z $offer ]]; then offer=$({1}_commands "$command"); fi
  if [[ -z $offer ]]; then offer=$({1}_places "$command"); fi
  case $offer in
    @nothing) ;;
    @folder)
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -d -- "$current")) ;;
    @file | '')
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -f -- "$current")) ;;
    *) COMPREPLY=($(compgen -W "$offer" -- "$current")) ;;
  esac
}}
complete -F {1} {0}
)sh",
      name, function, commands, places, flags, values);
}

std::string zsh_completion(const CommandDescription& program) {
  std::string cases;
  visit(program, [&](const CommandDescription& command, const std::string& words) {
    cases += fmt::format("    '{}')\n", words);
    if (!command.commands.empty()) {
      cases += "      local -a commands=(\n";
      for (const CommandDescription& each : command.commands) {
        cases += fmt::format("        '{}:{}'\n", each.name, without(each.about, ":'"));
      }
      cases += "      )\n      _describe command commands ;;\n";
      return;
    }
    cases += "      _arguments \\\n";
    for (const FlagDescription& flag : command.flags) {
      if (flag.is_place) continue;
      for (const std::string& name : flag.names) {
        cases += fmt::format("        '{}{}[{}]{}' \\\n", flag.repeats ? "*" : "", name,
                             without(flag.about, ":'[]\n"), zsh_value(flag));
      }
    }
    const auto taken = words_of_places(command);
    const std::string place = taken.empty() ? std::string("file:_files")
                                            : fmt::format("word:({})", fmt::join(taken, " "));
    cases += fmt::format("        '--help[every flag]' '*:{}' ;;\n", place);
  });
  return fmt::format(
      R"sh(#compdef {0}
# zsh completion for {0}: put it into a folder of $fpath as _{0}
_{0}() {{
  local command='' word
  local -a groups=({1})
  if ((CURRENT > 2)); then
    command=$words[2]
    shift words
    ((CURRENT--))
    if ((CURRENT > 2 && $groups[(Ie)$command])); then
      command="$command $words[2]"
      shift words
      ((CURRENT--))
    fi
  fi
  case $command in
{2}  esac
}}
_{0} "$@"
)sh",
      program.name,
      [&] {
        std::string groups;
        for (const CommandDescription& each : program.commands) {
          if (!each.commands.empty()) groups += (groups.empty() ? "" : " ") + each.name;
        }
        return groups;
      }(),
      cases);
}

std::string fish_completion(const CommandDescription& program) {
  std::string out = fmt::format(
      "# fish completion for {0}: put it into ~/.config/fish/completions/{0}.fish\n", program.name);
  visit(program, [&](const CommandDescription& command, const std::string& words) {
    std::string condition = "__fish_use_subcommand";
    if (!words.empty()) {
      condition.clear();
      std::string rest = words;
      for (std::size_t at; !rest.empty(); rest = at == rest.npos ? "" : rest.substr(at + 1)) {
        at = rest.find(' ');
        condition += (condition.empty() ? "" : "; and ") +
                     std::string("__fish_seen_subcommand_from ") + rest.substr(0, at);
      }
    }
    for (const CommandDescription& each : command.commands) {
      out += fmt::format(
          "complete -c {} -f -n '{}' -a {} -d '{}'\n", program.name,
          words.empty() ? condition
                        : condition + "; and not __fish_seen_subcommand_from " + names_of(command),
          each.name, without(each.about, "'\\"));
    }
    if (const auto taken = words_of_places(command); !taken.empty()) {
      out += fmt::format("complete -c {} -f -n '{}' -a '{}'\n", program.name, condition,
                         fmt::join(taken, " "));
    }
    for (const FlagDescription& flag : command.flags) {
      if (flag.is_place) continue;
      std::string names;
      for (const std::string& name : flag.names) {
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      std::string value;
      if (flag.value.kind == ValueKind::words) {
        value = fmt::format(" -x -a '{}'", fmt::join(flag.value.words, " "));
      } else if (flag.value.kind == ValueKind::folder) {
        value = " -x -a '(__fish_complete_directories)'";
      } else if (flag.value.kind == ValueKind::file) {
        value = " -r -F";
      } else if (flag.value.kind == ValueKind::text) {
        value = " -x";
      }
      out += fmt::format("complete -c {} -n '{}'{}{} -d '{}'\n", program.name, condition, names,
                         value, without(flag.about, "'\\\n"));
    }
  });
  return out;
}

namespace {

// npuscope completion: the script with which a shell completes npuscope's commands, and, for the
// installation, the man pages.
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
