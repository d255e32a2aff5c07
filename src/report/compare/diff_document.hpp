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

#include "analysis/ops/expected_provider.hpp"
#include "npuscope/profile/run_numbers.hpp"
#include "report/compare/judgement.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

struct Diff : Judgement {
  analysis::Comparison comparison;
  std::vector<const Profile*> a, b;  // the runs; no A: B alone is judged
  std::uint64_t left_out[2] = {};    // profiles of other formats and graphs
  // Of --expect-provider, by run of b.
  std::vector<analysis::ExpectedProvider> providers;
  std::string selection;  // what the profiles were cut down to; empty: they are whole

  bool is_alone() const { return a.empty(); }
};

Document diff_document(const Diff& diff);

// Of B alone: the gates, and the numbers that gates can name; in text only where there is no gate.
Document check_document(const Diff& check);

// A comment of GitHub's Markdown: the verdict, the gates, the numbers that changed and the ops that
// did, each with what failed or got worse first, names escaped.
std::string diff_markdown(const Diff& diff);

// A comparison as a picture: the waterfall, what each op adds to or takes off the sum from A to B.
//
//   const auto svg = diff_svg(diff, {.width = 960, .max_ops = 25});
//   write_file_atomically("diff.svg", as_byte_span(*svg));
//
// The ops that changed most, the others together, and the sum; what lies within the noise is
// light. `diff.comparison` must have the rows of all ops.

struct WaterfallView {
  double width = 960;  // pixels
  std::size_t max_ops = 25;
};

// Where no op changed, or the sides have no column of ops in common, a picture that says so.
std::string diff_svg(const Diff& diff, const WaterfallView& view);

struct Fall {
  std::string name;
  double from = 0, to = 0;  // the sum of deltas before it and after it
  analysis::OpChange change = analysis::OpChange::same;
  std::size_t ops = 1;  // rows that it stands for
};

// The largest changes first, at most `max`, of which the last are all others together where there
// are more; none for rows without a change.
std::vector<Fall> falls_of(const std::vector<analysis::OpDifference>& rows, std::size_t max);

// Snapshots: what npuscope says when it writes one, and the page of one that is opened.

struct WrittenSnapshot {
  struct Run {
    const Profile* profile;
    const RunNumbers* numbers;
  };
  std::string path;
  std::uint64_t bytes = 0;
  std::vector<Run> runs;
};

std::string snapshot_written_text(const WrittenSnapshot& written);
std::string snapshot_written_json(const WrittenSnapshot& written, std::span<const Note> notes);

// Of a profile with `numbers`: what it was made of, its numbers, and what it cannot say.
Document snapshot_document(const Profile& profile);

}  // namespace npuscope::report
