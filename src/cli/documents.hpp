// What every command has in common that answers a question about each profile with a document.
#pragma once

#include <functional>
#include <optional>

#include "cli/colour.hpp"
#include "cli/profiles.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "report/document/document.hpp"

namespace npuscope::cli {

struct DocumentOptions : ProfileOptions {
  std::size_t width = 0;  // 0: of the terminal
  bool json = false;
  bool csv = false;
  std::string table;  // of the CSV; empty: the first
  ColourChoice colour = ColourChoice::automatic;
};

// Columns of its text: as asked for, else the terminal's.
std::size_t width_of(const DocumentOptions& options);

// Those of profiles, the end of the window, and --json, --csv, --table, --width.
void add_document_options(CLI::App& command, DocumentOptions& options);

// --top: rows of tables. Machines get all of them, unless they say how many; 0 is all.
class TopRows {
 public:
  void add_option(CLI::App& command, std::size_t rows, const std::string& help);
  std::size_t of(const DocumentOptions& options) const;

 private:
  std::optional<std::size_t> asked_;
  std::size_t rows_ = 0;
};

using MakeDocument =
    std::function<Result<report::Document>(const analysis::Analysis&, const report::ProfilePart&)>;

// Opens the files, makes a document of each part and prints them all; of several profiles one that
// cannot be answered becomes a note.
ExitStatus print_documents(const DocumentOptions& options, const MakeDocument& make,
                           const report::SelectOptions& select = {});

// The same of files that are open already.
ExitStatus print_documents(const DocumentOptions& options, const Selected& selected,
                           const MakeDocument& make);

// As `options` say: text, JSON or CSV.
ExitStatus print_documents(const DocumentOptions& options,
                           std::span<const report::Document> documents,
                           const std::vector<Note>& notes);

}  // namespace npuscope::cli
