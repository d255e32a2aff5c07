#include "cli/documents.hpp"

#include <limits>

#include "base/try.hpp"
#include "cli/choices.hpp"
#include "cli/environment.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/base/progress.hpp"
#include "report/document/document.hpp"
#include "report/document/text_table.hpp"

namespace npuscope::cli {
namespace {

// Text, CSV and Markdown; the notes go to standard error.
Status print_in_form(const PageOptions& options, std::span<const report::Document> documents,
                     const std::vector<Note>& notes) {
  if (options.csv) {
    TRY_AS(csv, report::documents_csv(documents, options.table));
    print(stdout, "{}", *csv);
  } else if (options.markdown) {
    print(stdout, "{}", without_job_commands(report::documents_markdown(documents)));
  } else {
    const report::Colour colour = colour_of(options.colour);
    std::string page;
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const std::string text = report::document_text(documents[i], width_of(options), colour);
      page += i > 0 ? "\n\n" : "";
      page += shows_ascii_only() ? report::ascii_marks(text) : text;
    }
    print_page(without_job_commands(page), options.pager);
  }
  print_notes(notes);
  return {};
}

}  // namespace

void add_page_options(Command& command, PageOptions& options) {
  command.flag("--json", options.json, "print JSON");
  command.flag("--csv", options.csv, "print a table as CSV").excludes("--json");
  command.flag("--markdown", options.markdown, "print Markdown")
      .excludes("--json")
      .excludes("--csv");
  command.flag("--table", options.table, "which table; default: the first").needs("--csv");
  options.top.add_option(command);
  command.flag("--width", options.width, "columns of the text; default: the terminal's")
      .check(whole_number(60, 1'000));
  add_colour_option(command, options.colour);
  add_pager_option(command, options.pager);
  for (const char* flag : {"--width", "--color", "--pager"}) {
    command.idle_beside(flag, {"--json", "--csv", "--markdown"});
  }
}

void add_document_options(Command& command, DocumentOptions& options) {
  add_profile_options(command, options);
  command.flag("--to,--until", options.selection.until, "end of the window");
  add_page_options(command, options);
}

std::size_t width_of(const PageOptions& options) {
  return options.width > 0 ? options.width : terminal_width();
}

void TopRows::set(std::size_t rows, std::string what) {
  rows_ = rows;
  what_ = std::move(what);
}

void TopRows::add_option(Command& command) {
  const std::string rows =
      rows_ == 0 ? "all" : fmt::format("{}; 0: all, as in JSON and CSV", rows_);
  command.flag("--top", asked_, fmt::format("{} ({})", what_, rows)).check(whole_number());
}

std::size_t TopRows::of(bool for_machines) const {
  const std::size_t rows = asked_.value_or(for_machines ? 0 : rows_);
  return rows == 0 ? std::numeric_limits<std::size_t>::max() : rows;
}

std::optional<std::size_t> TopRows::cut() const {
  if (!cuts_when_printed_ || asked_.value_or(0) == 0) return std::nullopt;
  return asked_;
}

ExitStatus print_documents(const DocumentOptions& options,
                           std::span<const report::Document> documents,
                           const std::vector<Note>& notes) {
  if (const auto rows = options.top.cut()) {
    std::vector<report::Document> cut(documents.begin(), documents.end());
    for (report::Document& document : cut) report::cut_tables(document.sections, *rows);
    DocumentOptions rest = options;
    rest.top = {};
    return print_documents(rest, cut, notes);
  }
  if (options.json) {
    print_json(stdout, report::documents_json(documents, notes));
    print_errors(notes);
  } else if (const Status printed = print_in_form(options, documents, notes); !printed) {
    return report(printed.error());
  }
  return status_of(options, notes);
}

ExitStatus print_answer(const PageOptions& options, const report::Document& answer,
                        const std::vector<Note>& notes) {
  report::Document document = answer;
  if (const auto rows = options.top.cut()) report::cut_tables(document.sections, *rows);
  if (options.json) {
    print_json(stdout, report::document_json(document, notes));
    print_errors(notes);
  } else if (const Status printed = print_in_form(options, {&document, 1}, notes); !printed) {
    return report(printed.error());
  }
  return ExitStatus::done;
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
  std::optional<BusySign> busy("analysing");
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
  busy.reset();
  if (documents.empty()) return report(last);
  return print_documents(options, documents, notes);
}

namespace {

std::string path_of_output(const PictureOptions& options) {
  return options.replaces_page() ? "/dev/stdout" : options.file;
}

}  // namespace

void add_picture_options(Command& command, PictureOptions& options) {
  command
      .flag("--svg", options.file,
            "write a picture too; - for only the picture, on standard output")
      .check(
          [](std::string& name) { return std::string(name.empty() ? "a file needs a name" : ""); });
  command.flag("--svg-width", options.width, "width of the picture in pixels")
      .check(real_number(300, 10'000))
      .shows_usual();
  command.matters_with("--svg-width", {"--svg"});
}

Status check_picture(const PictureOptions& options, std::span<const std::string> inputs) {
  return options.wanted() ? check_output_is_no_input(inputs, path_of_output(options)) : Status();
}

Status write_picture(const PictureOptions& options, const std::string& svg) {
  return write_file_atomically(path_of_output(options), as_byte_span(svg));
}

ExitStatus print_with_picture(const DocumentOptions& options, const PictureOptions& picture,
                              const DrawPicture& draw, const MakeDocument& make,
                              const report::SelectOptions& select) {
  if (!picture.wanted()) return print_documents(options, make, select);
  const auto selected = open_selected(options, select);
  if (!selected) return report(selected.error());
  if (selected->parts.size() != 1) {
    return report(Error{ErrorKind::usage,
                        fmt::format("--svg {}: a picture is of one profile, and these are {}; name "
                                    "the files of one",
                                    picture.file, selected->parts.size())});
  }
  const report::ProfilePart& part = selected->parts.front();
  const auto drawn = draw(analysis::Analysis(part.profile), part);
  if (!drawn) return report(drawn.error());
  for (const auto& inputs : {options.files, part.profile.provenance.files}) {
    if (auto written = check_picture(picture, inputs); !written) return report(written.error());
  }
  if (auto written = write_picture(picture, *drawn); !written) return report(written.error());
  if (!picture.replaces_page()) return print_documents(options, *selected, make);
  print_notes(selected->notes);
  return status_of(options, selected->notes);
}

}  // namespace npuscope::cli
