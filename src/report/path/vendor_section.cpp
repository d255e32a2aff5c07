#include "report/path/vendor_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "analysis/path/path_groups.hpp"
#include "base/sort_rows.hpp"
#include "base/text.hpp"
#include "npuscope/profile/unit_path.hpp"

namespace npuscope::report {
namespace {

using analysis::VendorPath;
using analysis::VendorSegment;

std::vector<std::size_t> longest(const VendorPath& path, std::size_t max) {
  std::vector<std::size_t> places(path.segments.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (max >= places.size()) return places;
  sort_rows(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    return path.segments[a].duration > path.segments[b].duration;
  });
  places.resize(max);
  std::sort(places.begin(), places.end());
  return places;
}

std::vector<Value> row_of(const Profile& profile, const VendorSegment& segment, std::size_t number,
                          std::int64_t begin) {
  std::vector<Value> row{number, segment.start - begin, segment.duration};
  if (segment.row == analysis::no_row) {
    row.insert(row.end(), {Value(), "(idle)", Value(), Value(), Value(), Value(), segment.start,
                           segment.start + segment.duration, Value(), segment.core});
    return row;
  }
  const Spans& spans = profile.spans;
  const std::size_t index = index_of(spans.op[segment.row]);
  const Op op = index < profile.ops.size() ? profile.ops[index] : Op{};
  const StringId name = op.label();
  const std::int64_t whole = spans.duration[segment.row];
  row.insert(row.end(), {whole, profile.text(name), profile.text(op.kind),
                         path_of(profile, spans.unit[segment.row]), segment.critical,
                         segment.duration < whole, segment.start, segment.start + segment.duration,
                         op.id != 0 ? Value(fmt::format("{:#x}", op.id)) : Value(), segment.core});
  return row;
}

}  // namespace

Result<Section> vendor_section(const Profile& profile, const analysis::CriticalPath& path,
                               std::size_t max) {
  const auto vendor = analysis::vendor_path(profile, path.steps);
  if (!vendor) return tl::unexpected(vendor.error());
  Section section{.key = "vendor", .title = "DOMINANT PATH (QHAS), BY TIME"};
  const auto of_wall = [&](std::int64_t ticks) {
    return vendor->wall > 0 ? Value(double(ticks) / double(vendor->wall)) : Value();
  };
  std::int64_t critical = 0;
  for (const VendorSegment& segment : vendor->segments) critical += segment.critical;
  section.facts = {{{"owned", "owned", Format::ticks}, vendor->owned},
                   {{"idle", "idle", Format::ticks}, vendor->idle},
                   {{"idle_share_of_wall", "idle, of wall", Format::share}, of_wall(vendor->idle)},
                   {{"critical", "on the critical path", Format::ticks}, critical},
                   {{"critical_share_of_wall", "of wall", Format::share}, of_wall(critical)},
                   {{"differing", "", Format::count}, vendor->differing}};
  section.table.fields = {{"segment", "segment", Format::count},
                          {"start", "start", Format::ticks},
                          {"duration", "cycles", Format::ticks},
                          {"execution", "of execution", Format::ticks},
                          {"op", "op"},
                          {"kind", "kind"},
                          {"unit", "unit"},
                          {"critical", "critical path", Format::ticks},
                          {"partial", "", Format::truth},
                          {"start_cycle", "", Format::count},
                          {"end_cycle", "", Format::count},
                          {"op_id", "", Format::name},
                          {"core", "", Format::count}};
  for (const std::size_t place : longest(*vendor, max)) {
    section.table.rows.push_back(row_of(profile, vendor->segments[place], place + 1, path.begin));
  }
  section.table.row_count = vendor->segments.size();
  section.remarks.push_back(
      "Each moment belongs to one running execution: HMX before HVX before all else, then the "
      "lowest thread, then the earliest start. \"critical path\": the part of the segment during "
      "which its op is on the critical path, on whichever thread.");
  if (vendor->differing > 0) {
    section.remarks.push_back(
        fmt::format("{} {} another number of cycles in the trace's own dominant path.",
                    thousands(vendor->differing),
                    vendor->differing == 1 ? "execution has" : "executions have"));
  }
  return section;
}

}  // namespace npuscope::report
