// What every command has in common that answers a question about each profile with a document.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/profiles.hpp"
#include "cli/terminal.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "report/document/document.hpp"

namespace npuscope::cli {

// --top: rows of tables. Machines get all of them, unless they say how many; 0 is all.
class TopRows {
 public:
  // What a command prints when nobody asks; 0: all.
  void set(std::size_t rows, std::string what = "rows of each table");
  // The command's answer has all rows, and print_documents() cuts them.
  void cut_when_printed() { cuts_when_printed_ = true; }
  void add_option(Command& command);

  std::size_t of(bool for_machines) const;
  std::optional<std::size_t> cut() const;  // where print_documents() has to
  bool asked() const { return asked_.has_value(); }

 private:
  std::optional<std::size_t> asked_;
  std::size_t rows_ = 0;
  std::string what_ = "rows of each table";
  bool cuts_when_printed_ = false;
};

// How a page is printed.
struct PageOptions {
  std::size_t width = 0;  // 0: of the terminal
  bool json = false;
  bool csv = false;
  bool markdown = false;
  std::string table;  // of the CSV; empty: the first
  ColourChoice colour = ColourChoice::automatic;
  bool pager = false;
  TopRows top;

  bool is_text() const { return !json && !csv && !markdown; }
  std::size_t rows() const { return top.of(json || csv); }  // of its tables
};

struct DocumentOptions : ProfileOptions, PageOptions {};

// Columns of its text: as asked for, else the terminal's.
std::size_t width_of(const PageOptions& options);

// --json, --csv, --markdown, --table, --top, --width, --color: the same in every command that
// prints a page. `top` must know its rows before.
void add_page_options(Command& command, PageOptions& options);

// Those of profiles, the end of the window, and those of pages.
void add_document_options(Command& command, DocumentOptions& options);

using MakeDocument =
    std::function<Result<report::Document>(const analysis::Analysis&, const report::ProfilePart&)>;

// Opens the files, makes a document of each part and prints them all; of several profiles one that
// cannot be answered becomes a note.
ExitStatus print_documents(const DocumentOptions& options, const MakeDocument& make,
                           const report::SelectOptions& select = {});

// The same of files that are open already.
ExitStatus print_documents(const DocumentOptions& options, const Selected& selected,
                           const MakeDocument& make);

// As `options` say: text, JSON, CSV or Markdown.
ExitStatus print_documents(const DocumentOptions& options,
                           std::span<const report::Document> documents,
                           const std::vector<Note>& notes);

// One answer, of no single profile: its JSON is the document itself.
ExitStatus print_answer(const PageOptions& options, const report::Document& answer,
                        const std::vector<Note>& notes);

// --svg: a command's answer as a picture, with its page or instead of it.
struct PictureOptions {
  std::string file;  // empty: none; "-": standard output, and no page
  double width = 960;

  bool wanted() const { return !file.empty(); }
  bool replaces_page() const { return file == "-"; }
};

// --svg and --svg-width.
void add_picture_options(Command& command, PictureOptions& options);

// A usage error where the picture would be written over one of the inputs.
Status check_picture(const PictureOptions& options, std::span<const std::string> inputs);
Status write_picture(const PictureOptions& options, const std::string& svg);

using DrawPicture =
    std::function<Result<std::string>(const analysis::Analysis&, const report::ProfilePart&)>;

// As print_documents(), with the picture where one is wanted: of one profile, or it is a usage
// error.
ExitStatus print_with_picture(const DocumentOptions& options, const PictureOptions& picture,
                              const DrawPicture& draw, const MakeDocument& make,
                              const report::SelectOptions& select = {});

}  // namespace npuscope::cli
