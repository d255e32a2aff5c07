// npuscope explain: an entry of the glossary. npuscope record-help: how to record with a runtime.
#include <algorithm>
#include <iterator>
#include <memory>

#include "cli/choices.hpp"
#include "cli/profiles.hpp"
#include "cli/terminal.hpp"
#include "report/document/text_table.hpp"
#include "report/words/reference_page.hpp"

namespace npuscope::cli {
namespace {

using report::ReferencePage;

struct TextPageOptions {
  std::vector<std::string> words;
  std::size_t width = 0;
  bool json = false;
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// The commands alone, for a shell: they are those of that model.
ExitStatus print_script(const report::ReferenceEntry& entry, bool json) {
  if (json) {
    const report::Document document = report::entry_document(entry, terminal_width());
    print_json(stdout, report::document_json(document, {}));
    return ExitStatus::done;
  }
  for (const report::EntryBlock& block : entry.blocks) {
    if (block.kind == report::EntryBlock::Kind::commands) print(stdout, "{}\n", block.text);
  }
  return ExitStatus::done;
}

ExitStatus print_page(const TextPageOptions& options, ReferencePage page, const char* command) {
  const std::size_t width = options.width > 0 ? options.width : terminal_width();
  const std::string name = joined(options.words);
  if (page == ReferencePage::recording && options.words.size() > 1) {
    const auto last = options.words.end() - 1;
    const auto* of_model = report::find_entry(page, joined({options.words.begin(), last}));
    if (of_model != nullptr)
      return print_script(report::with_model(*of_model, *last), options.json);
  }
  const report::ReferenceEntry* entry = name.empty() ? nullptr : report::find_entry(page, name);
  if (!name.empty() && entry == nullptr) {
    std::vector<std::string> names;
    for (const auto& each : report::entries_of(page)) {
      names.insert(names.end(), each.names.begin(), each.names.end());
    }
    return report(Error{ErrorKind::usage, fmt::format("unknown name '{}'{}; npuscope {} lists all",
                                                      name, meant_name(names, name), command)});
  }
  const report::Document document =
      entry ? report::entry_document(*entry, width) : report::entries_document(page, width);
  if (options.json) {
    print_json(stdout, report::document_json(document, {}));
    return ExitStatus::done;
  }
  std::string text = report::document_text(document, width, colour_of(ColourChoice::automatic));
  text.erase(0, text.find_first_not_of('\n'));
  print(stdout, "{}", shows_ascii_only() ? report::ascii_marks(text) : text);
  return ExitStatus::done;
}

// For a shell, which cuts names at blanks.
std::vector<std::string> single_words(ReferencePage page) {
  std::vector<std::string> words;
  for (const report::ReferenceEntry& entry : report::entries_of(page)) {
    std::ranges::copy_if(entry.names, std::back_inserter(words), [](const std::string& name) {
      return name.find_first_of(" '\"()[]\\") == name.npos;
    });
  }
  return words;
}

void add_page_command(Command& command, const char* argument, const char* help,
                      ReferencePage page) {
  const auto options = std::make_shared<TextPageOptions>();
  command.flag("name", options->words, help).called(argument).offers(single_words(page));
  command.flag("--json", options->json, "print JSON");
  command.flag("--width", options->width, "columns of the text; default: the terminal's")
      .check(whole_number(60, 1'000));
  command.action = [options, page, name = command.name] {
    return print_page(*options, page, name.c_str());
  };
}

}  // namespace

void add_explain_command(Command& program) {
  Command& command =
      program.command("explain", "What a word in the heads of pages and columns means");
  add_page_command(command, "TERM", "the word, such as 'dominant path'; none: list all",
                   ReferencePage::glossary);
}

void add_record_help_command(Command& program) {
  Command& command = program.command(
      "record-help", "How to record a profile: the commands of each runtime, and what they cost");
  add_page_command(command, "RUNTIME",
                   "the runtime, such as qnn or torq, and a model, for which its commands are "
                   "printed alone; none: list all",
                   ReferencePage::recording);
}

}  // namespace npuscope::cli
