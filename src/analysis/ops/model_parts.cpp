#include "analysis/ops/model_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
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

struct RuledRow {
  OpId op = OpId::none;
  double value = 0;
  std::string_view part;  // by the rules; empty: none fits
  std::string_view of_engine;
  std::size_t row = 0;  // of the table
};

// A compiler counts an activation's node for the convolution that it fused before it, which then
// has 0: without kernels nothing tells which part of the work is whose. By row; empty: not fused.
std::vector<std::string> fused_parts(const std::vector<RuledRow>& rows) {
  std::vector<std::size_t> in_order(rows.size());
  std::iota(in_order.begin(), in_order.end(), std::size_t{0});
  std::ranges::sort(in_order, {}, [&](std::size_t row) { return index_of(rows[row].op); });
  std::vector<std::string> parts(rows.size());
  std::string_view fused;
  for (const std::size_t row : in_order) {
    const auto& [op, value, part, of_engine, place] = rows[row];
    if (!(value > 0)) {
      if (part == "convolution" || part == "matmul") fused = part;
      continue;
    }
    const bool takes_over = part == "activations" || part == "elementwise";
    if (!fused.empty() && takes_over) parts[row] = fmt::format("{} + {}", fused, part);
    fused = {};
  }
  return parts;
}

// Where the hardware tells, which is typed, and no rule does. What computes too is no copy, however
// long its transfers take.
bool computes(const OpRow& row) {
  return std::any_of(row.engines.begin(), row.engines.end(),
                     [](Engine engine) { return domain_of(engine) == Domain::compute; });
}

std::string_view part_of_engine(const OpRow& row) {
  if (row.engines.empty() || computes(row)) return {};
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
  std::vector<RuledOp> ruled_ops;
  std::vector<RuledRow> rows;
  const RuledOps texts(profile);
  by.part_of_row.resize(ops.rows.size());
  for (const OpRow& row : ops.rows) {
    const auto value = row.values[ops.ranked_by];
    if (index_of(row.first_op) >= profile.ops.size() || !value) continue;
    // The kernel that most of the time is may be a transfer of an op that computes.
    const bool is_mixed = profile.ops[index_of(row.first_op)].is_unnamed && computes(row);
    ruled_ops.push_back(is_mixed ? RuledOp{} : texts.of(op_of(profile, row)));
    rows.push_back({row.first_op,
                    *value,
                    {},
                    engines_tell ? part_of_engine(row) : "",
                    std::size_t(&row - ops.rows.data())});
  }
  const std::vector<std::uint32_t> rule_of = rules.of(ruled_ops);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rule_of[i] < rules.size()) rows[i].part = rules.part(rule_of[i]);
  }
  std::vector<std::string> fused(rows.size());
  if (profile.spans.size() == 0) fused = fused_parts(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [op, value, part, of_engine, row] = rows[i];
    const bool is_ruled = !part.empty() && of_engine != collectives;
    const std::string_view name = !fused[i].empty() ? std::string_view(fused[i])
                                  : is_ruled        ? part
                                                    : of_engine;
    if (name.empty() || !(value > 0)) continue;
    add(by, name, value);
    by.part_of_row[row] = name;
    if (name != bookkeeping) by.explained += value / column.total;
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
