// npuscope tables list|check|draft: descriptions of tables with a row a layer.
#include <memory>

#include "base/text.hpp"
#include "cli/documents.hpp"
#include "formats/tables/draft.hpp"
#include "npuscope/base/files.hpp"
#include "report/programs/table_documents.hpp"

namespace npuscope::cli {
namespace {

struct TablesOptions {
  std::vector<std::string> files;
  std::string output;
  PageOptions page;
};

ExitStatus list_tables(const TablesOptions& options) {
  auto own = tables::read_descriptions(options.files);
  if (!own) return report(own.error());
  std::vector<tables::TableDescription> all = std::move(*own);
  const auto& builtin = tables::builtin_descriptions();
  all.insert(all.end(), builtin.begin(), builtin.end());
  return print_answer(options.page, report::descriptions_document(all), {});
}

ExitStatus check_tables(const TablesOptions& options) {
  const auto files = tables::description_files(options.files);
  if (!files) return report(files.error());
  std::vector<report::CheckedDescription> checked;
  std::vector<Error> errors;
  for (const std::string& file : *files) {
    auto read = tables::read_descriptions({file});
    if (read) {
      checked.push_back({file, std::move(read->front()), ""});
      continue;
    }
    errors.push_back(read.error());
    checked.push_back({file, std::nullopt, read.error().message});
  }
  const ExitStatus printed = print_answer(options.page, report::checked_document(checked), {});
  if (printed != ExitStatus::done || errors.empty()) return printed;
  return report(Error{errors.back().kind,
                      fmt::format("{} of {} descriptions cannot be used; the first: {}",
                                  errors.size(), checked.size(), errors.front().message)});
}

ExitStatus draft_table(const TablesOptions& options) {
  const std::string& file = options.files.front();
  auto source = open_byte_source(std::filesystem::path(file));
  if (!source) return report(source.error());
  const auto drafted = tables::draft_description(**source);
  if (!drafted) return report(drafted.error());
  if (!options.page.is_text()) {
    return print_answer(options.page, report::draft_document(*drafted), {});
  }
  const std::string text = tables::description_text(*drafted);
  if (options.output.empty()) {
    print(stdout, "{}", text);
    return ExitStatus::done;
  }
  if (auto usable = check_output_is_no_input(options.files, options.output); !usable) {
    return report(usable.error());
  }
  const auto written = write_file_atomically(options.output, as_byte_span(text));
  if (!written) return report(written.error());
  print(stderr, "wrote {}\n", printable(options.output));
  return ExitStatus::done;
}

}  // namespace

void add_tables_command(Command& program) {
  Command& tables =
      program.command("tables", "Tables with a row a layer: which are known, your own");
  const auto add = [&](const char* name, const char* about, auto action) -> Command& {
    const auto options = std::make_shared<TablesOptions>();
    Command& command = tables.command(name, about);
    auto& files = command.flag("files", options->files, "");
    const std::string called = name;
    if (called == "list") {
      files.describe("descriptions of your own, files and folders, which are listed first");
    } else if (called == "check") {
      files.describe("descriptions, files and folders").required();
    } else {
      files.describe("a CSV file, with a header").required().values(1, 1);
      command.flag("-o,--output", options->output, "write the description here").called("FILE");
    }
    options->page.top.cut_when_printed();
    add_page_options(command, options->page);
    command.action = [options, action] { return action(*options); };
    return command;
  };
  add("list", "List the tables that open", list_tables);
  add("check", "Check descriptions of your own; errors have their line", check_tables);
  add("draft", "Draft a description of an unknown CSV file, to correct", draft_table);
  const auto usual = std::make_shared<TablesOptions>();
  tables.action = [usual] { return list_tables(*usual); };
}

}  // namespace npuscope::cli
