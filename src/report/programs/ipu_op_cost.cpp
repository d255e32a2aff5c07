#include "report/programs/ipu_op_cost.hpp"

#include "base/text.hpp"

namespace npuscope::report {
namespace {

constexpr double percent = 100;

std::string share_text(double share, bool seen) {
  return seen ? fmt::format("{:.3f}%", percent * share) : "not seen";
}

// Empty where the log covers the model.
std::string coverage_line(const sigmastar::OperatorCosts& costs) {
  if (!costs.is_partial()) return "";
  return fmt::format("partial: the log {}; shares are of what was seen\n",
                     sigmastar::coverage_text(costs));
}

Value share_value(double share, bool seen) { return seen ? Value(share) : Value(); }

Section operators_section(const sigmastar::Model& model, const sigmastar::OperatorCosts& costs,
                          const std::string& time_key) {
  Section section{.key = "operators", .title = "OPERATORS"};
  section.table.fields = {{"index", "index", Format::count},
                          {"type", "type"},
                          {"share", "of all layers", Format::share},
                          {time_key, time_key, Format::count},
                          {"layers", "layers", Format::count},
                          {"seen", "seen", Format::truth},
                          {"group", "group"},
                          {"output", "first output"}};
  for (std::size_t i = 0; i < model.operators.size(); ++i) {
    const auto& cost = costs.operators[i];
    section.table.rows.push_back({i, model.operators[i].type, share_value(cost.share, cost.seen),
                                  share_value(cost.time, cost.seen), cost.layers, cost.seen,
                                  name_of(model.operators[i].fusion), model.operators[i].label});
  }
  return section;
}

Section types_section(const sigmastar::OperatorCosts& costs, const std::string& time_key) {
  Section section{.key = "types", .title = "TYPES"};
  section.table.fields = {{"type", "type"},
                          {"share", "of all layers", Format::share},
                          {time_key, time_key, Format::count},
                          {"operators", "operators", Format::count},
                          {"operators_seen", "seen", Format::count}};
  for (const auto& type : costs.types) {
    section.table.rows.push_back({type.type, share_value(type.share, type.seen > 0),
                                  share_value(type.time, type.seen > 0), type.operators,
                                  type.seen});
  }
  return section;
}

}  // namespace

std::string op_cost_totals_text(const sigmastar::OperatorCosts& costs, std::size_t rows) {
  std::string out = coverage_line(costs);
  for (const auto& type : std::span(costs.types).first(std::min(rows, costs.types.size()))) {
    out += fmt::format("{} {}\n", printable(type.type), share_text(type.share, type.seen > 0));
  }
  return out;
}

std::string op_cost_each_text(const sigmastar::Model& model, const sigmastar::OperatorCosts& costs,
                              std::size_t rows) {
  std::string out = coverage_line(costs);
  for (std::size_t i = 0; i < std::min(rows, model.operators.size()); ++i) {
    const auto& cost = costs.operators[i];
    out += fmt::format("{} {} {}\n", i, printable(model.operators[i].type),
                       share_text(cost.share, cost.seen));
  }
  return out;
}

Document make_op_cost_document(const sigmastar::Model& model,
                               const sigmastar::OperatorCosts& costs) {
  const std::string time_key = costs.in_cycles ? "work_cycles" : "work_nanoseconds";
  Document document;
  Section all{.key = "all"};
  all.facts = {
      {{time_key, "work of all layers", Format::count}, costs.sum},
      {{"layers", "layers", Format::count}, costs.layers},
      {{"operators_that_take_one", "operators that take one", Format::count}, costs.takers},
      {{"operators_seen", "of these, seen", Format::count}, costs.seen_takers},
      {{"is_partial", "partial", Format::truth}, costs.is_partial()},
      {{"share_of_wall", "of wall", Format::share}, costs.share_of_wall},
      {{"cores", "cores", Format::count}, costs.cores},
      {{"by_own_indices", "by the timeline's indices", Format::truth}, costs.by_own_indices}};
  all.remarks = costs.remarks;
  document.sections = {types_section(costs, time_key), operators_section(model, costs, time_key),
                       std::move(all)};
  return document;
}

}  // namespace npuscope::report
