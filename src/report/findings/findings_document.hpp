// The answer of `npuscope diagnose`: findings, the one that could gain most first.
//
//   1  boundary-tax: up to 47.3 % of the wall
//     finding     Glue between ops runs for a tenth of the time or more
//     gain        up to 30,649 cycles: by longest path: these conversions and slices take no time
//     evidence           value          of                 kind    from
//     format conversion  29,862 cycles                     active  ops: by rule
//     share of wall  46.1 %         format conversion  active  ops: by rule
//     Keep tensors in one layout from op to op: …
#pragma once

#include <string>

#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/findings.hpp"
#include "npuscope/analysis/run_sets.hpp"
#include "report/document/document.hpp"
#include "report/memory/peaks.hpp"

namespace npuscope::report {

struct FindingsRequest {
  PeakText peaks = {};
  std::string rule = {};   // one alone; empty: all
  bool is_part = false;    // units or ops were left out: a moment without work may be theirs
  bool with_rest = false;  // also the rules that found nothing or could not be tried
  const analysis::RunSet* samples = nullptr;  // those that the profile stands for
};

// A usage error for a rule or a target that nobody knows; an input error for a profile that no rule
// can be tried on, or not the one that is asked for.
Result<Document> make_findings_document(const analysis::Analysis& analysis,
                                        const FindingsRequest& request);

// All rules, a row each.
Document rules_document();
// How one is computed; a usage error that lists them where there is none of that name.
Result<Document> rule_document(const std::string& name);

// "up to 54.2 % of the wall"; empty where the gain is not known.
std::string gain_text(const analysis::Finding& finding);

}  // namespace npuscope::report
