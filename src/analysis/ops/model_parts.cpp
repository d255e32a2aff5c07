#include "analysis/ops/model_parts.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/sort_rows.hpp"
#include "npuscope/analysis/analysis.hpp"

namespace npuscope::analysis {
namespace {

constexpr double fits_from = 0.6;
constexpr double max_rounding = 1e-9;  // of sums in another order
constexpr std::string_view bookkeeping = "bookkeeping";
constexpr std::string_view collectives = "collectives", copies = "copies", other = "other";

// The row as one op: its node, and the kernel that most of its work is.
Op op_of(const Profile& profile, const OpRow& row) {
  Op op = profile.ops[index_of(row.first_op)];
  if (row.main_kind != StringId::empty) op.kind = row.main_kind;
  return op;
}

// A compiler counts an activation's node for the convolution that it fused before it, which then
// has 0: without kernels nothing tells which part of the work is whose.
class FusedNodes {
 public:
  FusedNodes(const Rules& rules, const Profile& profile, const OpTable& ops) {
    if (profile.spans.size() > 0) return;
    const RuledOps texts(profile);
    const auto part_of = [&](const OpRow& row) -> std::string {
      const RuledOp ruled_op = texts.of(op_of(profile, row));
      const std::uint32_t rule = rules.of({&ruled_op, 1}).front();
      return rule < rules.size() ? rules.part(rule) : std::string();
    };
    std::map<std::uint32_t, const OpRow*> by_place;
    for (const OpRow& row : ops.rows) {
      if (index_of(row.first_op) < profile.ops.size()) by_place[index_of(row.first_op)] = &row;
    }
    std::string fused;
    for (const auto& [place, row] : by_place) {
      const auto value = row->values[ops.ranked_by];
      const std::string part = value ? part_of(*row) : std::string();
      const bool is_product = part == "convolution" || part == "matmul";
      if (value == 0.0) {
        if (is_product) fused = part;
        continue;
      }
      const bool takes_over = part == "activations" || part == "elementwise";
      if (!fused.empty() && takes_over) parts_[place] = fused + " + " + part;
      fused.clear();
    }
  }
  // Of the row of that op; null where it is not fused.
  const std::string* part_of(OpId op) const {
    const auto found = parts_.find(index_of(op));
    return found == parts_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::uint32_t, std::string> parts_;
};

// Where the hardware tells, which is typed, and no rule does.
std::string_view part_of_engine(const OpRow& row) {
  if (row.engines.empty()) return {};
  switch (domain_of(row.engines.front())) {
    case Domain::movement: return copies;
    case Domain::communication: return collectives;
    default: return {};
  }
}

void add(ModelParts& by, std::string_view name, double value) {
  auto part = std::find_if(by.parts.begin(), by.parts.end(),
                           [&](const ModelPart& each) { return each.name == name; });
  if (part == by.parts.end()) part = by.parts.insert(part, {std::string(name)});
  part->value += value;
}

ModelParts parts_by(const Rules& rules, const Profile& profile, const OpTable& ops,
                    bool engines_tell) {
  const OpColumn& column = ops.columns[ops.ranked_by];
  const double whole = column.whole.value_or(column.total);
  ModelParts by;
  const FusedNodes fused(rules, profile, ops);
  std::vector<RuledOp> ruled_ops;
  std::vector<double> values;
  std::vector<OpId> op_ids;
  std::vector<std::string_view> by_engine;
  const RuledOps texts(profile);
  for (const OpRow& row : ops.rows) {
    const double value = row.values[ops.ranked_by].value_or(0);
    if (index_of(row.first_op) >= profile.ops.size() || !(value > 0)) continue;
    ruled_ops.push_back(texts.of(op_of(profile, row)));
    values.push_back(value);
    op_ids.push_back(row.first_op);
    by_engine.push_back(engines_tell ? part_of_engine(row) : std::string_view());
  }
  const std::vector<std::uint32_t> rule_of = rules.of(ruled_ops);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_ruled = rule_of[i] < rules.size() && by_engine[i] != collectives;
    const std::string* fused_part = fused.part_of(op_ids[i]);
    const std::string_view name = fused_part ? std::string_view(*fused_part)
                                  : is_ruled ? std::string_view(rules.part(rule_of[i]))
                                             : by_engine[i];
    if (name.empty()) continue;
    add(by, name, values[i]);
    if (name != bookkeeping) by.explained += values[i] / column.total;
  }
  sort_rows(by.parts.begin(), by.parts.end(),
            [](const ModelPart& a, const ModelPart& b) { return a.value > b.value; });
  double rest = whole;
  for (const ModelPart& part : by.parts) rest -= part.value;
  if (rest > max_rounding * whole) by.parts.push_back({std::string(other), rest});
  for (ModelPart& part : by.parts) part.share = part.value / whole;
  return by;
}

// One softmax makes no transformer.
bool is_of_transformer(const ModelParts& parts) {
  constexpr std::size_t min_parts = 3;
  const auto is_attention = [](const ModelPart& part) {
    return part.name.starts_with("attention");
  };
  const auto named =
      std::ranges::count_if(parts.parts, [](const ModelPart& part) { return part.name != other; });
  return std::size_t(named) >= min_parts &&
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
    // What only the hardware tells is no sign of a transformer.
    const bool is_general = name == std::string_view("operators");
    ModelParts by = parts_by(*rules, profile, ops, is_general);
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
