// What changed between runs of a fleet, and what stands out of it.
#include <fmt/format.h>

#include "report/fleet/fleet_document.hpp"

namespace npuscope::report {
namespace {

using fleet::Id;

Value op_name(Id op, const std::string& name) {
  if (op == 0) return "(whole inference)";
  return name.empty() ? Value("(no op)") : Value(name);
}

Value text_of_group(const fleet::Value& value) { return group_cells({value}).front(); }

}  // namespace

Document fleet_changes_document(const FleetHead& head, const fleet::OpChanges& changes) {
  const Format time = format_of(changes.clock.unit);
  Section section{.key = "changes"};
  section.title = fmt::format("CHANGES of ops in {}, B against A", name_of(changes.clock.unit));
  section.table.names = 0;
  section.table.fields = {{"name", "op"},
                          {"kind", "kind", Format::name, true, true},
                          {"former_kind", "kind in A", Format::name, true, true},
                          {"op", "", Format::name},
                          {"former_op", "", Format::name},
                          {"change", "", Format::name},
                          {"a", "A", time},
                          {"b", "B", time},
                          {"relative", "change", Format::change},
                          {"delta", "", time},
                          {"q", "q", Format::number},
                          {"p", "", Format::number},
                          {"runs_a", "runs A", Format::count, false},
                          {"runs_b", "runs B", Format::count, false}};
  for (const fleet::ComparedOp& op : changes.rows) {
    const bool is_both = op.a && op.b;
    section.table.rows.push_back(
        {op_name(op.op, op.name), if_any(op.kind), if_any(op.former_kind), fmt::format("{}", op.op),
         op.former_op != 0 ? Value(fmt::format("{}", op.former_op)) : Value(),
         !op.a            ? "added"
         : !op.b          ? "removed"
         : !op.is_change  ? "same"
         : op.delta() > 0 ? "slower"
                          : "faster",
         op.a, op.b, is_both ? Value(op.relative()) : Value(),
         is_both ? Value(op.delta()) : Value(), op.q, op.p, op.runs_a, op.runs_b});
  }
  Section fleet = fleet_head(head, changes.runs_a + changes.runs_b, changes.remarks);
  fleet.facts.push_back({{"where_a", "A"}, changes.where_a});
  fleet.facts.push_back({{"where_b", "B"}, changes.where_b});
  fleet.facts.push_back({{"runs_a", "runs of A", Format::count}, changes.runs_a});
  fleet.facts.push_back({{"runs_b", "runs of B", Format::count}, changes.runs_b});
  fleet.facts.push_back({{"slower", "slower ops", Format::count}, changes.slower});
  fleet.facts.push_back({{"faster", "faster ops", Format::count}, changes.faster});
  fleet.facts.push_back({{"same", "same ops", Format::count}, changes.same});
  fleet.facts.push_back({{"only_a", "", Format::count}, changes.only_a});
  fleet.facts.push_back({{"only_b", "", Format::count}, changes.only_b});
  fleet.facts.push_back({{"unit"}, name_of(changes.clock.unit)});
  Document document;
  document.sections = {std::move(fleet), std::move(section)};
  return document;
}

Document fleet_points_document(const FleetHead& head, const fleet::ChangePoints& points) {
  const Format time = format_of(points.clock.unit);
  Section section{.key = "change_points"};
  section.title =
      fmt::format("CHANGE POINTS along {}, in {}", points.along, name_of(points.clock.unit));
  section.table.fields = {{"name", "op"},
                          {"kind", "kind", Format::name, true, true},
                          {"op", "", Format::name},
                          {"last_before", "last before"},
                          {"first_after", "first after"},
                          {"before", "before", time},
                          {"after", "after", time},
                          {"relative", "change", Format::change},
                          {"q", "q", Format::number},
                          {"p", "", Format::number},
                          {"runs_before", "runs before", Format::count, false},
                          {"runs_after", "runs after", Format::count, false}};
  for (const fleet::PointOfOp& point : points.rows) {
    section.table.rows.push_back(
        {op_name(point.op, point.name), if_any(point.kind), fmt::format("{}", point.op),
         text_of_group(point.last_before), text_of_group(point.first_after), point.before,
         point.after, point.relative(), point.q, point.p, point.runs_before, point.runs_after});
  }
  Section fleet = fleet_head(head, points.runs, points.remarks);
  fleet.facts.push_back({{"along", "along"}, points.along});
  fleet.facts.push_back({{"places", "values of it", Format::count}, points.places});
  fleet.facts.push_back({{"ops", "ops", Format::count}, points.ops});
  fleet.facts.push_back({{"unit"}, name_of(points.clock.unit)});
  Document document;
  document.sections = {std::move(fleet), std::move(section)};
  return document;
}

Document fleet_outliers_document(const FleetHead& head, const fleet::FleetOutliers& outliers) {
  Section groups{.key = "groups", .title = "SLOWEST" + by_text(outliers.by)};
  add_group_fields(groups.table, outliers.by);
  const Field more[] = {{"runs", "runs", Format::count},
                        {"relative", "of median", Format::share},
                        {"distance", "distance", Format::number},
                        {"is_outlier", "outlier", Format::truth},
                        {"reason", "reason", Format::name, true, true},
                        {"clock_share", "clock", Format::share, true, true},
                        {"work_share", "cycles of work", Format::share, true, true},
                        {"movement_share", "transfers", Format::share, true, true},
                        {"idle_share", "waiting and idle", Format::share, false, true},
                        {"bytes_share", "DDR bytes", Format::share, false, true},
                        {"other_graph_share", "other graph", Format::share, false},
                        {"median_run", "", Format::name},
                        {"median_file", "file of the median run", Format::name, false, true}};
  groups.table.fields.insert(groups.table.fields.end(), std::begin(more), std::end(more));
  for (const fleet::SlowGroup& group : outliers.groups) {
    std::vector<Value> row = group_cells(group.by);
    append<Value>(
        row, {group.runs, group.relative, group.distance, group.is_outlier,
              group.reason == fleet::SlowReason::none ? Value() : Value(name_of(group.reason)),
              group.clock, group.work, group.movement, group.idle, group.bytes, group.other_graph,
              fmt::format("{}", group.median_run.run), first_file(group.median_run)});
    groups.table.rows.push_back(std::move(row));
  }
  if (!outliers.groups.empty() && outliers.groups.front().is_outlier) {
    const fleet::SlowGroup& slowest = outliers.groups.front();
    groups.remarks.push_back(how_to_open(slowest.median_run, slowest.by));
  }
  Section runs{.key = "outlying_runs", .title = "RUNS unlike the others of their group"};
  runs.table.fields = {{"run", "run"}};
  add_group_fields(runs.table, outliers.by);
  const Format time = outliers.in_ticks ? Format::number : Format::seconds;
  const Field fields[] = {{"value", "50 %", time},
                          {"relative", "of median", Format::share},
                          {"distance", "distance", Format::number},
                          {"file", "file", Format::name, false, true}};
  runs.table.fields.insert(runs.table.fields.end(), std::begin(fields), std::end(fields));
  for (const fleet::OutlierRun& each : outliers.rows) {
    std::vector<Value> row{fmt::format("{}", each.run)};
    for (Value& cell : group_cells(each.by)) row.push_back(std::move(cell));
    append<Value>(row, {each.value, each.relative, each.distance,
                        each.files.substr(0, each.files.find('\n'))});
    runs.table.rows.push_back(std::move(row));
  }
  Section fleet = fleet_head(head, outliers.runs, outliers.remarks);
  fleet.facts.push_back({{"measure", "measure"}, outliers.measure});
  fleet.facts.push_back({{"limit", "outliers from a distance of", Format::number}, outliers.limit});
  fleet.facts.push_back({{"unit"}, outliers.in_ticks ? "ticks" : "seconds"});
  Document document;
  document.sections = {std::move(fleet), std::move(groups), std::move(runs)};
  return document;
}

}  // namespace npuscope::report
