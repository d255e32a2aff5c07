// The pages of `npuscope show`: the first page, on one screen, and the full one, whose sections are
// those of the other commands and what only this one has.
//
//   document_text(first_page(analysis, {}), 100)         at most 30 lines
//   document_text(*show_document(analysis, {}), 100)     every section
//   show_document(analysis, {.sections = {"ops"}})       one of them
//   documents_json(…)                                    the full page's; keys: docs/cli/show.md
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "npuscope/analysis/analysis.hpp"
#include "report/document/document.hpp"
#include "report/memory/peaks.hpp"

namespace npuscope::report {

// Spans up to which a page has findings (a few seconds), and what bounds each op.
inline constexpr std::size_t max_spans_for_findings = 4'000'000;
inline constexpr std::size_t max_spans_for_bounds = 300'000;

struct ShowRequest {
  std::size_t top = 10;                    // rows of each table; 0: all
  std::vector<std::string> sections = {};  // their keys; empty: all
  bool leaves_out_rows = false;            // units or ops: a moment without work may be theirs
  bool is_part = false;                    // a window, a core, an inference: its wall is no latency
  PeakText peaks = {};                     // of the hardware
};

// A usage error for a section that the profile does not have; it lists those that it has.
Result<Document> show_document(const analysis::Analysis& analysis, const ShowRequest& request);

struct FirstPageRequest {
  std::size_t width = 100;
  std::size_t height = 30;              // lines that it may take
  std::optional<std::size_t> ops = {};  // that are wanted, whatever the height
  bool in_order = false;                // ops as they ran, not the costliest first
  bool leaves_out_rows = false;
  bool is_part = false;         // a window, a core, an inference: its wall is no latency
  std::string files = "FILES";  // as they stand on a command line
  PeakText peaks = {};          // of the hardware
};

Document first_page(const analysis::Analysis& analysis, const FirstPageRequest& request);

// A line for each of several profiles.
Document profiles_document(const std::vector<const analysis::Analysis*>& all);

}  // namespace npuscope::report
