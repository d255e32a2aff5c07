// The nodes of one model on two NPUs, runtimes or compilers side by side: which rows of one are
// which of the other, and what each took, in its own unit.
//
//   const Across across = compare_across(a, b);              // two Analysis
//   across.sides[0].column                                   // "work", in seconds, measured
//   across.rows[0]   // {"conv1"}, {"conv1+relu1"}: 90.5 us of A, 9,925 cycles of B
//   across.rows[9]   // {"softmax"}, {}: only in A
//
// Rows are joined by
//   model      a node of the model in common, where the model is given: both sides are matched with
//              it (graph_expected.hpp), and a row stands for all nodes that it fuses
//   name       a name in common, of rows that bear several ("conv1+relu1") any of them: a row that
//              fuses stands against all rows that hold what it fuses
//   shape      the same sort of operator and the same extents of the output, in order
//   order      the same sort of operator, in order, where both sides have as many of them between
//              the rows joined before, or one side one and the other a run of them
// in this order of certainty. Whatever is left stays alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/graph/graph_expected.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/compare.hpp"

namespace npuscope::analysis {

enum class JoinedBy : std::uint8_t { model, name, shape, order, none };
const char* name_of(JoinedBy by);

struct AcrossRow {
  std::vector<std::string> nodes;     // of the model, where it is given
  std::vector<std::string> names[2];  // by side; of one only in the other side none
  std::string kinds[2];               // "4 kinds" of several
  std::optional<double> values[2];    // of the side's column; none: the side has no number of it
  JoinedBy by = JoinedBy::none;
  bool is_only_in(int side) const { return names[1 - side].empty(); }
};

struct AcrossSide {
  std::string column;  // "work"
  MeasureKind kind = MeasureKind::work;
  Origin origin = Origin::measured;
  MeasuredIn unit = MeasuredIn::ticks;  // seconds, cycles or ticks
  std::uint64_t inferences = 1;         // the values are medians of, the first included
  double total = 0;                     // of all rows
  double joined = 0;                    // of those that have a like
  std::uint64_t nodes = 0, joined_nodes = 0;
  std::uint64_t runs = 1;  // of which it is the first
};

struct Across {
  AcrossSide sides[2];
  std::vector<AcrossRow> rows;  // in the order of A; then what is only in B, in its own
  // Whether times of both are of one unit, so that they divide.
  bool has_ratio() const {
    return sides[0].unit == MeasuredIn::seconds && sides[1].unit == MeasuredIn::seconds;
  }
};

// A usage error where a side has no time of any node.
Result<Across> compare_across(const Analysis& a, const Analysis& b,
                              const ExpectedGraph* model = nullptr);

}  // namespace npuscope::analysis
