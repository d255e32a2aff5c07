#include "analysis/ops/model_parts.hpp"

#include <algorithm>
#include <string_view>

#include "base/sort_rows.hpp"
#include "npuscope/analysis/analysis.hpp"

namespace npuscope::analysis {
namespace {

constexpr double fits_from = 0.6;
constexpr std::string_view bookkeeping = "bookkeeping";

// The row as one op: its node, and the kernel that most of its work is.
Op op_of(const Profile& profile, const OpRow& row) {
  Op op = profile.ops[index_of(row.first_op)];
  if (row.main_kind != StringId::empty) op.kind = row.main_kind;
  return op;
}

ModelParts parts_by(const Rules& rules, const Profile& profile, const OpTable& ops) {
  const OpColumn& column = ops.columns[ops.ranked_by];
  const double whole = column.whole.value_or(column.total);
  ModelParts by;
  std::vector<RuledOp> ruled_ops;
  std::vector<double> values;
  for (const OpRow& row : ops.rows) {
    const double value = row.values[ops.ranked_by].value_or(0);
    if (index_of(row.first_op) >= profile.ops.size() || !(value > 0)) continue;
    ruled_ops.push_back(ruled(profile, op_of(profile, row)));
    values.push_back(value);
  }
  const std::vector<std::uint32_t> rule_of = rules.of(ruled_ops);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (rule_of[i] >= rules.size()) continue;
    const double value = values[i];
    const std::string& name = rules.part(rule_of[i]);
    auto part = std::find_if(by.parts.begin(), by.parts.end(),
                             [&](const ModelPart& each) { return each.name == name; });
    if (part == by.parts.end()) part = by.parts.insert(part, {name});
    part->value += value;
    part->share = part->value / whole;
    if (name != bookkeeping) by.explained += value / column.total;
  }
  sort_rows(by.parts.begin(), by.parts.end(),
            [](const ModelPart& a, const ModelPart& b) { return a.value > b.value; });
  return by;
}

// One softmax makes no transformer.
bool is_of_transformer(const ModelParts& parts) {
  constexpr std::size_t min_parts = 3;
  const auto is_attention = [](const ModelPart& part) {
    return part.name.starts_with("attention");
  };
  return parts.parts.size() >= min_parts &&
         std::any_of(parts.parts.begin(), parts.parts.end(), is_attention);
}

}  // namespace

std::optional<ModelParts> model_parts(const Profile& profile, const OpTable& ops) {
  if (ops.columns.empty() || ops.rows.empty()) return std::nullopt;
  const OpColumn& column = ops.columns[ops.ranked_by];
  if (!(column.whole.value_or(column.total) > 0)) return std::nullopt;
  for (const char* name : {"transformer", "operators"}) {
    const auto rules = Rules::builtin(name);
    if (!rules) continue;
    ModelParts by = parts_by(*rules, profile, ops);
    by.rules = name;
    const bool fits = name != std::string_view("transformer") || is_of_transformer(by);
    if (fits && by.explained >= fits_from) return by;
  }
  return std::nullopt;
}

Result<Rules> fitting_rules(const Analysis& analysis) {
  const auto parts = model_parts(analysis.profile(), analysis.ops(options_of_parts()));
  return Rules::builtin(parts ? parts->rules : "transformer");
}

}  // namespace npuscope::analysis
