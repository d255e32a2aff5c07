#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/description.hpp"

namespace npuscope::cli {
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
