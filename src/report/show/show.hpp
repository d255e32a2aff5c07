// The page of `npuscope show`: one profile, from what it is down to its units, as text or JSON from
// the same struct.
//
//   const Page page = make_page(analysis, {.top = 10});
//   fmt::print("{}", page_text(page, 100));              // at most 100 columns wide
//   fmt::print("{}", pages_json({&page, 1}, notes));     // keys: docs/cli.md
//
// A page refers to its profile, which must outlive it.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/latency.hpp"
#include "analysis/units/clocks.hpp"
#include "analysis/units/peers.hpp"
#include "analysis/units/pmu.hpp"
#include "analysis/units/unit_numbers.hpp"
#include "npuscope/analysis/analysis.hpp"

namespace npuscope::report {

struct PageOptions {
  std::size_t top = 10;  // rows of each table; the page says how many there are
  // What the profile was cut down to, "from 2ms"; empty: it is whole.
  std::string selection = {};
  bool leaves_out_rows = false;  // units or ops: a moment without work may be theirs
};

struct Page {
  const Profile* profile = nullptr;
  std::size_t top = 10;
  std::string selection;
  bool leaves_out_rows = false;
  analysis::Coarse coarse;
  std::optional<analysis::ClockRate>
      rate;                            // of the base clock over the timeline, where it is known
  std::optional<analysis::Call> call;  // as the host sees it
  bool structure_only = false;         // one cold, instrumented inference: no utilisation from it
  std::optional<analysis::Throughput> throughput;  // of a runner's log or latency file
  std::vector<analysis::PhaseRow> phases;
  analysis::OpTable ops;      // by the model's operators
  analysis::OpTable kinds;    // by kernel; empty when that would say the same
  analysis::UnitTable units;  // all of them
  analysis::Overlap overlap;  // of them
  analysis::UnitNumbers unit_numbers;
  analysis::Pmu pmu;
  std::vector<analysis::InferenceClock> clocks;  // of the cores, by inference
  analysis::Peers peers;                         // what devices send one another
  std::vector<analysis::NumberRow> numbers;
  std::vector<analysis::CounterRow> counters;
  // None where they would take longer than the page: npuscope diagnose has them.
  std::optional<analysis::Diagnosis> diagnosis;
};

// Spans up to which a page has findings.
inline constexpr std::size_t max_spans_for_findings = 300'000;

Page make_page(const analysis::Analysis& analysis, const PageOptions& options);

// Ends with a line break; lines are at most `width` columns (but no narrower than 60).
std::string page_text(const Page& page, std::size_t width);

// One object for all pages; `notes` are of files that are no profile.
std::string pages_json(std::span<const Page> pages, std::span<const Note> notes);

// "warning: trace.json, byte 90: 3 ends without begin (3 times)".
std::string note_text(const Note& note);

}  // namespace npuscope::report
