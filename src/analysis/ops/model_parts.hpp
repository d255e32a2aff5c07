// What parts of a model its time goes to, in words that everybody has for them.
//
//   const auto parts = model_parts(profile, analysis.ops(options_of_parts()));
//   parts->rules                 "transformer", the built-in rules that fit this graph
//   parts->parts[0]              {"MLP projections", 8.2e6, 0.372}
//
// Transformers are told by the names of their nodes; other graphs by what their operators do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "npuscope/analysis/ops.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::analysis {

class Analysis;

// Of the table that parts are made of: the rows with most; what is beyond counts as unexplained.
inline OpOptions options_of_parts() { return OpOptions::of_work(Grouping::op, 2'000); }

struct ModelPart {
  std::string name;
  double value = 0;  // of the column that the table is ranked by
  double share = 0;  // of its whole
};

struct ModelParts {
  std::string rules;             // "transformer", "operators"
  std::vector<ModelPart> parts;  // the largest first, then "other", so that they add up to all
  std::vector<std::string> part_of_row;  // of each row of the table; empty: "other"
  double explained = 0;  // share of the rows' sum that obeys a rule, bookkeeping apart
};

// None where the graph is of no known form: less than 60 % of what its rows took obeys any rules.
std::optional<ModelParts> model_parts(const Profile& profile, const OpTable& ops);

// The built-in rules of that form; those of transformers where the graph is of none.
Result<Rules> fitting_rules(const Analysis& analysis);

}  // namespace npuscope::analysis
