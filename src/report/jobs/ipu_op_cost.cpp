#include "npuscope/report/ipu_op_cost.hpp"

#include "npuscope/base/text.hpp"

namespace npuscope::report {
namespace {

constexpr double percent = 100;

Section operators_section(const sigmastar::Model& model, const sigmastar::OperatorCosts& costs,
                          const std::string& time_key) {
  Section section{.key = "operators", .title = "OPERATORS"};
  section.table.fields = {{"index", "index", Format::count},
                          {"type", "type"},
                          {"share", "of all layers", Format::share},
                          {time_key, time_key, Format::count},
                          {"layers", "layers", Format::count},
                          {"group", "group"},
                          {"output", "first output"}};
  for (std::size_t i = 0; i < model.operators.size(); ++i) {
    const auto& cost = costs.operators[i];
    section.table.rows.push_back({i, model.operators[i].type, cost.share, cost.time, cost.layers,
                                  name_of(model.operators[i].fusion), model.operators[i].label});
  }
  return section;
}

Section types_section(const sigmastar::OperatorCosts& costs, const std::string& time_key) {
  Section section{.key = "types", .title = "TYPES"};
  section.table.fields = {{"type", "type"},
                          {"share", "of all layers", Format::share},
                          {time_key, time_key, Format::count},
                          {"operators", "operators", Format::count}};
  for (const auto& type : costs.types) {
    section.table.rows.push_back({type.type, type.share, type.time, type.operators});
  }
  return section;
}

}  // namespace

std::string op_cost_totals_text(const sigmastar::OperatorCosts& costs) {
  std::string out;
  for (const auto& type : costs.types) {
    out += fmt::format("{} {:.3f}%\n", printable(type.type), percent * type.share);
  }
  return out;
}

std::string op_cost_each_text(const sigmastar::Model& model,
                              const sigmastar::OperatorCosts& costs) {
  std::string out;
  for (std::size_t i = 0; i < model.operators.size(); ++i) {
    out += fmt::format("{} {} {:.3f}%\n", i, printable(model.operators[i].type),
                       percent * costs.operators[i].share);
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
      {{"cores", "cores", Format::count}, costs.cores},
      {{"by_own_indices", "by the timeline's indices", Format::truth}, costs.by_own_indices},
      {{"share_of_no_operator", "of no operator", Format::share}, costs.unassigned / costs.sum}};
  all.remarks = costs.remarks;
  document.sections = {types_section(costs, time_key), operators_section(model, costs, time_key),
                       std::move(all)};
  return document;
}

}  // namespace npuscope::report
