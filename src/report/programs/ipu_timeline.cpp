#include "report/programs/ipu_documents.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::report {
namespace {

using sigmastar::CoreLog;
using sigmastar::LogEngine;

// An engine's busy time: the union of its intervals.
std::int64_t busy(const CoreLog& log, LogEngine engine) {
  std::int64_t until = std::numeric_limits<std::int64_t>::min();
  std::int64_t sum = 0;
  for (const auto& each : log.intervals) {  // by begin
    if (each.engine != engine) continue;
    sum = saturating_add(sum, length_of({std::max(until, each.begin), each.end}));
    until = std::max(until, each.end);
  }
  return sum;
}

std::vector<Value> row_of(const CoreLog& log, const std::string& name, double hertz) {
  std::int64_t first = 0, last = 0;
  for (const auto& each : log.intervals) {
    first = &each == &log.intervals.front() ? each.begin : std::min(first, each.begin);
    last = std::max(last, each.end);
  }
  const std::int64_t wall = length_of({first, last});
  std::vector<Value> row{name, log.records, log.layers.size(), wall, double(wall) / hertz};
  for (const LogEngine engine : {LogEngine::conv, LogEngine::vector, LogEngine::dma_load,
                                 LogEngine::dma_store, LogEngine::scalar}) {
    row.emplace_back(busy(log, engine));
  }
  row.emplace_back(log.unclosed);
  return row;
}

}  // namespace

Document make_ipu_timeline_document(const sigmastar::IpuTimeline& timeline,
                                    const std::string& output) {
  Section section{.key = "logs", .title = "LOGS, in cycles"};
  section.facts = {{{"output", "wrote"}, output},
                   {{"hertz", "frequency", Format::hertz}, timeline.hertz}};
  const auto& waits = timeline.waits;
  if (!waits.edges.empty()) {
    section.facts.push_back({{"waits", "arrows", Format::count}, waits.edges.size()});
  }
  section.table.fields = {{"log", "log"},
                          {"records", "records", Format::count},
                          {"layers", "layers", Format::count},
                          {"wall_cycles", "first to last", Format::count},
                          {"wall_seconds", "time", Format::seconds},
                          {"conv_busy_cycles", "conv busy", Format::count},
                          {"vector_busy_cycles", "vector busy", Format::count},
                          {"dma_load_busy_cycles", "load busy", Format::count},
                          {"dma_store_busy_cycles", "store busy", Format::count},
                          {"scalar_busy_cycles", "scalar busy", Format::count, false},
                          {"intervals_without_end", "without end", Format::count, false}};
  for (std::size_t i = 0; i < timeline.cores.size(); ++i) {
    section.table.rows.push_back(row_of(
        timeline.cores[i], fmt::format("core {}", timeline.core_numbers[i]), timeline.hertz));
  }
  if (timeline.control) {
    section.table.rows.push_back(row_of(*timeline.control, "corectrl", timeline.hertz));
  }
  section.remarks = {"Engines run side by side: their busy times overlap."};
  if (waits.too_many) {
    section.remarks.push_back("What waits for what is left out: too many arrows for a trace.");
  }
  if (waits.contradictory > 0) {
    section.remarks.push_back(
        fmt::format("{} waits that follow from the layout's [tiles] did not happen so and are left "
                    "out: the log is not complete, or its layout another.",
                    thousands(waits.contradictory)));
  }
  if (!timeline.related) {
    section.remarks.push_back(
        "The layout does not relate the clocks of the logs: each begins at 0, and what lies beside "
        "what across them says nothing.");
  }
  Document document;
  document.sections.push_back(std::move(section));
  return document;
}

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
