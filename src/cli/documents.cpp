#include "cli/documents.hpp"

#include "report/document/ascii_marks.hpp"

namespace npuscope::cli {

void add_document_options(CLI::App& command, DocumentOptions& options) {
  add_profile_options(command, options);
  command.add_option("--until,--to", options.selection.until, "end of the window");
  CLI::Option* json = command.add_flag("--json", options.json, "print JSON");
  CLI::Option* csv = command.add_flag("--csv", options.csv, "print a table as CSV");
  csv->excludes(json);
  command.add_option("--table", options.table, "which table; default: the first")->needs(csv);
  command.add_option("--width", options.width, "columns of the text; default: the terminal's")
      ->check(whole_number(60, 1'000));
  add_colour_option(command, options.colour);
}

std::size_t width_of(const DocumentOptions& options) {
  return options.width > 0 ? options.width : terminal_width();
}

void TopRows::add_option(CLI::App& command, std::size_t rows, const std::string& help) {
  rows_ = rows;
  command
      .add_option("--top", asked_, fmt::format("{} ({}); 0: all, as in JSON and CSV", help, rows))
      ->check(whole_number());
}

std::size_t TopRows::of(const DocumentOptions& options) const {
  const bool for_machines = options.json || options.csv;
  const std::size_t rows = asked_.value_or(for_machines ? 0 : rows_);
  return rows == 0 ? std::numeric_limits<std::size_t>::max() : rows;
}

ExitStatus print_documents(const DocumentOptions& options,
                           std::span<const report::Document> documents,
                           const std::vector<Note>& notes) {
  if (options.json) {
    print(stdout, "{}", report::documents_json(documents, notes));
    return status_of(options, notes);
  }
  if (options.csv) {
    const auto csv = report::documents_csv(documents, options.table);
    if (!csv) return report(csv.error());
    print(stdout, "{}", *csv);
  } else {
    const report::Colour colour = colour_of(options.colour);
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const std::string text = report::document_text(documents[i], width_of(options), colour);
      print(stdout, "{}{}", i > 0 ? "\n\n" : "",
            shows_ascii_only() ? report::ascii_marks(text) : text);
    }
  }
  print_notes(notes);
  return status_of(options, notes);
}

ExitStatus print_documents(const DocumentOptions& options, const MakeDocument& make,
                           const report::SelectOptions& select) {
  const auto selected = open_selected(options, select);
  if (!selected) return report(selected.error());
  return print_documents(options, *selected, make);
}

ExitStatus print_documents(const DocumentOptions& options, const Selected& selected,
                           const MakeDocument& make) {
  std::vector<report::Document> documents;
  std::vector<Note> notes = selected.notes;
  Error last;
  for (const report::ProfilePart& part : selected.parts) {
    auto document = make(analysis::Analysis(part.profile), part);
    if (document) {
      document->selection = part.text;
      documents.push_back(std::move(*document));
    } else if (selected.parts.size() == 1) {
      return report(document.error());
    } else {
      last = document.error();
      notes.push_back(left_out(part.profile.provenance, last));
    }
  }
  if (documents.empty()) return report(last);
  return print_documents(options, documents, notes);
}

}  // namespace npuscope::cli
