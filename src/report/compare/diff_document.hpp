// A comparison as a document and as a comment for a pull request.
//
//   A            before.json (1 run)
//   B            after.json (1 run)
//   verdict      1 of 2 gates failed; wall 64,829 -> 70,015 cycles, +8.0 % (one sample a side)
//
//   GATES
//   gate        outcome  measured
//   wall > +3%  failed   64,829 -> 70,015 cycles, +8.0 % (one sample a side)
//
//   NUMBERS in cycles
//   number         kind        A       B   delta  change
//   wall           wall   64,829  70,015   5,186  +8.0 %
//
//   OPS by work, in cycles
//   change  op         kernel       A       B  delta  change
//   slower  MatMul_0   conv    32,707  37,893  5,186  +15.9 %
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/compare/judgement.hpp"

namespace npuscope::report {

struct Diff : Judgement {
  analysis::Comparison comparison;
  std::vector<const Profile*> a, b;  // the runs; no A: B alone is judged
  std::uint64_t left_out[2] = {};    // profiles of other formats and graphs
  std::string selection;             // what the profiles were cut down to; empty: they are whole

  bool is_alone() const { return a.empty(); }
};

Document diff_document(const Diff& diff);

// Of B alone: the gates, and the numbers that gates can name; in text only where there is no gate.
Document check_document(const Diff& check);

// A comment of GitHub's Markdown: the verdict, the gates, the numbers that changed and the ops that
// did, each with what failed or got worse first, names escaped.
std::string diff_markdown(const Diff& diff);

}  // namespace npuscope::report
