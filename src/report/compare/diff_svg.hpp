// A comparison as a picture: the waterfall, what each op adds to or takes off the sum from A to B.
//
//   const auto svg = diff_svg(diff, {.width = 960, .max_ops = 25});
//   write_file_atomically("diff.svg", as_byte_span(*svg));
//
// The ops that changed most, the others together, and the sum; what lies within the noise is
// light. `diff.comparison` must have the rows of all ops.
#pragma once

#include <string>

#include "report/compare/diff_document.hpp"

namespace npuscope::report {

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

}  // namespace npuscope::report
