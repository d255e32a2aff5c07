#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cstdlib>

#include "base/numbers.hpp"
#include "base/standard_streams.hpp"
#include "cli/description.hpp"

namespace npuscope::cli {
namespace {

constexpr std::size_t name_columns = 28, max_words = 24;

// "FILE", "WORD" for many words.
std::string value_word(const FlagDescription& flag) {
  const bool is_long = flag.value.kind == ValueKind::words && flag.value.word.size() > max_words;
  return is_long ? "WORD" : flag.value.word;
}

std::string head_of(const FlagDescription& flag) {
  const std::string word = value_word(flag);
  if (flag.is_place) return flag.names[0] + (flag.repeats ? "..." : "");
  // A flag without a short name stands where the long ones do.
  const bool has_short = !flag.names[0].starts_with("--");
  return (has_short ? "" : "    ") + fmt::format("{}", fmt::join(flag.names, ", ")) +
         (word.empty() ? "" : " " + word);
}

std::string about_of(const FlagDescription& flag) {
  std::string text = flag.about;
  if (value_word(flag) == "WORD") text += fmt::format(": {}", fmt::join(flag.value.words, ", "));
  if (flag.is_required) text += " (required)";
  if (!flag.usual.empty()) text += fmt::format(" [{}]", flag.usual);
  return text;
}

void add_row(std::string& out, const std::string& head, const std::string& about,
             std::size_t width) {
  std::string start = "  " + head;
  if (head.size() > name_columns) {
    out += start + "\n";
    start.clear();
  }
  for (const std::string& line : lines_of(about, width - name_columns - 4)) {
    out += fmt::format("{:<{}}{}\n", start, name_columns + 4, line);
    start.clear();
  }
  if (!start.empty()) out += start + "\n";
}

// In the order of their first member.
std::vector<std::string> groups_of(const CommandDescription& command) {
  std::vector<std::string> groups;
  const auto add = [&](const std::string& group) {
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  };
  for (const CommandDescription& each : command.commands) add(each.group);
  for (const FlagDescription& flag : command.flags) {
    if (!flag.is_place) add(flag.group);
  }
  return groups;
}

constexpr const char* about_help = "-h: this in short; --help: every flag and example";

std::string usage_of(const CommandDescription& command) {
  std::string text = "Usage: " + command.path;
  if (!command.commands.empty()) return text + " COMMAND [OPTIONS]";
  text += " [OPTIONS]";
  for (const FlagDescription& flag : command.flags) {
    if (!flag.is_place) continue;
    std::string place = flag.names[0];
    std::transform(place.begin(), place.end(), place.begin(),
                   [](unsigned char c) { return char(std::toupper(c)); });
    if (flag.repeats) place += "...";
    text += flag.is_required ? " " + place : " [" + place + "]";
  }
  return text;
}

}  // namespace

std::vector<std::string> lines_of(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end - at <= width) {
      lines.push_back(text.substr(at, end - at));
      at = end + 1;
      continue;
    }
    std::size_t blank = text.rfind(' ', at + width);
    if (blank == text.npos || blank <= at) blank = std::min(text.find(' ', at), end);
    lines.push_back(text.substr(at, blank - at));
    at = blank + 1;
  }
  return lines;
}

std::string help_text(const CommandDescription& command, HelpLength length, std::size_t width) {
  constexpr std::size_t brief_examples = 2;
  const bool is_brief = length == HelpLength::brief;
  std::string out;
  for (const std::string& line : lines_of(command.about, width)) out += line + "\n";
  if (!command.examples.empty()) out += "\nExamples:\n";
  for (std::size_t i = 0; i < command.examples.size(); ++i) {
    if (is_brief && i == brief_examples) break;
    const Example& example = command.examples[i];
    out += "  " + example.line + "\n";
    for (const std::string& line : lines_of(example.about, width - 6))
      out += "      " + line + "\n";
  }
  out += "\n" + usage_of(command) + "\n";
  bool any_place = false;
  for (const FlagDescription& flag : command.flags) {
    if (!flag.is_place || !command.commands.empty()) continue;
    if (!any_place) out += "\n";
    any_place = true;
    add_row(out, head_of(flag), about_of(flag), width);
  }
  std::vector<std::string> groups = groups_of(command);
  if (std::find(groups.begin(), groups.end(), "Options") == groups.end()) {
    groups.push_back("Options");
  }
  for (const std::string& group : groups) {
    std::string rows;
    for (const CommandDescription& each : command.commands) {
      if (each.group == group) add_row(rows, each.name, each.about, width);
    }
    for (const FlagDescription& flag : command.flags) {
      if (flag.is_place || flag.group != group || (is_brief && !flag.is_common)) continue;
      add_row(rows, head_of(flag), about_of(flag), width);
    }
    if (group == "Options") add_row(rows, "-h, --help", about_help, width);
    const bool is_plain = group == "Options" || group == "Subcommands";
    if (!rows.empty()) {
      out +=
          fmt::format("\n{}:\n{}", is_plain && group == "Subcommands" ? "Commands" : group, rows);
    }
  }
  if (is_brief) out += fmt::format("\nAll flags: {} --help\n", command.path);
  return out;
}

std::size_t help_width() {
  constexpr std::size_t of_a_file = 100, min = 80, max = 120;
  const char* columns = std::getenv("COLUMNS");
  if (columns != nullptr) {
    if (const auto asked = parse_number<std::size_t>(columns); asked && *asked > 0) {
      return std::clamp(*asked, min, max);
    }
  }
  const auto size = terminal_size();
  if (!size || size->columns == 0) return of_a_file;
  return std::clamp(size->columns, min, max);
}

namespace {

// Text that roff reads as it stands.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else {
      out += c;
    }
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string page_name(const CommandDescription& command) {
  std::string name = command.path;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

void add_flag(std::string& out, const FlagDescription& flag) {
  out += ".TP\n";
  std::string names;
  for (const std::string& name : flag.names) {
    names += (names.empty() ? "" : ", ") + (flag.is_place ? "\\fI" : std::string("\\fB")) +
             roff(name) + "\\fR";
  }
  if (!flag.is_place && !flag.value.word.empty()) names += " \\fI" + roff(flag.value.word) + "\\fR";
  out += names + "\n" + roff(flag.about.empty() ? "(no description)" : flag.about);
  if (flag.is_required) out += " (required)";
  if (!flag.usual.empty()) out += roff(fmt::format(" [{}]", flag.usual));
  out += "\n";
}

}  // namespace

std::string man_page(const CommandDescription& command, const std::string& version) {
  std::string title = page_name(command);
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return char(std::toupper(c)); });
  std::string out = fmt::format(".TH {} 1 \"\" \"npuscope {}\" \"npuscope\"\n", title, version);
  out += fmt::format(".SH NAME\n{} \\- {}\n", roff(page_name(command)), roff(command.about));
  out += fmt::format(".SH SYNOPSIS\n.B {}\n", roff(command.path));
  out += command.commands.empty() ? "[\\fIOPTIONS\\fR]" : "\\fICOMMAND\\fR [\\fIOPTIONS\\fR]";
  for (const FlagDescription& flag : command.flags) {
    if (flag.is_place) {
      out += fmt::format(" [\\fI{}\\fR{}]", roff(flag.names[0]), flag.repeats ? "..." : "");
    }
  }
  out += "\n";
  if (!command.examples.empty()) out += ".SH EXAMPLES\n";
  for (const Example& example : command.examples) {
    out += ".TP\n.B " + roff(example.line) + "\n" +
           (example.about.empty() ? "\\&" : roff(example.about)) + "\n";
  }
  if (!command.commands.empty()) out += ".SH COMMANDS\n";
  for (const CommandDescription& each : command.commands) {
    out += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", roff(page_name(each)), roff(each.about));
  }
  if (!command.flags.empty()) out += ".SH OPTIONS\n";
  std::string group = "Options";
  for (const FlagDescription& flag : command.flags) {
    if (flag.group != group) out += ".SS \"" + roff(flag.group) + "\"\n";
    group = flag.group;
    add_flag(out, flag);
  }
  out +=
      ".SH \"EXIT STATUS\"\n"
      "0 done; 1 a gate failed; 2 wrong usage; 3 an input is missing or broken; 4 an output could\n"
      "not be written.\n";
  return out + ".SH \"SEE ALSO\"\n.BR npuscope (1)\n";
}

}  // namespace npuscope::cli
