#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "formats/chrome/events.hpp"
#include "formats/chrome/profile/bound_flows.hpp"
#include "formats/chrome/profile/flows.hpp"
#include "formats/chrome/profile/lanes.hpp"
#include "formats/chrome/profile/mark_rows.hpp"
#include "formats/chrome/profile/own_export.hpp"
#include "formats/chrome/profile/unit_table.hpp"

namespace npuscope::chrome {
namespace {

void add_clock(Profile& profile) {
  Clock clock;
  clock.name = profile.strings.intern("trace");
  clock.kind = ClockKind::wall;
  clock.rate = Hertz(1'000'000'000);  // thousandths of the format's microseconds
  clock.offset_known = true;
  profile.base_clock = ClockId(profile.clocks.size());
  profile.clocks.push_back(clock);
}

// One after another: they are numbered as they come.
void add_ops(const Slices& slices, OpTable& ops, Profile& profile) {
  Column<OpId>& op = profile.spans.op;
  op.resize(slices.size());
  for (std::size_t i = 0; i < op.size(); ++i) {
    op[i] = ops.op(slices.name[i], slices.category.empty() ? StringId::empty : slices.category[i]);
  }
}

// Columns move where the profile has the same ones.
void add_slices(Slices&& slices, const Lanes& lanes, const UnitTable& units, Profile& profile) {
  Spans& spans = profile.spans;
  Column<StringId>().swap(slices.name);
  Column<StringId>().swap(slices.category);
  spans.unit.resize(slices.size());
  spans.kind.resize(slices.size());
  const std::vector<RowRange> parts = ranges_of(slices.size());
  parallel_for(parts.size(), [&](std::size_t part) {
    for (std::size_t i = parts[part].first; i < parts[part].last; ++i) {
      spans.unit[i] = units.lane(slices.thread[i], lanes.lane.empty() ? 0 : lanes.lane[i]);
      spans.kind[i] = SpanKind::slice;
    }
  });
  Column<std::uint32_t>().swap(slices.thread);
  spans.start = std::move(slices.start);
  spans.duration = std::move(slices.duration);
  spans.arguments = std::move(slices.arguments);
}

void note(Profile& profile, const std::string& file, std::uint64_t count, const char* message) {
  if (count > 0) profile.notes.push_back({Severity::warning, file, 0, message, count});
}

// What is in the file beside its events. A generic profile has no place for it.
void note_fields(const Events& events, Profile& profile) {
  std::string names;
  std::uint64_t count = 0;
  for (const auto& [name, json] : events.fields) {
    if (name == "displayTimeUnit" || (name == "otherData" && is_own_export(events))) continue;
    ++count;
    if (count <= 8) names.append(names.empty() ? "" : ", ").append(name);
  }
  if (count == 0) return;
  if (count > 8) names += ", ...";
  profile.notes.push_back({Severity::info, events.file, 0,
                           "top-level members beside the events, not in the profile: " + names,
                           count});
}

}  // namespace

Profile make_profile(Events&& events) {
  Profile profile;
  profile.strings = std::move(events.strings);
  profile.notes = std::move(events.notes);
  profile.provenance.format = "Chrome trace";
  profile.provenance.files = {events.file};
  add_clock(profile);
  const std::size_t threads = events.threads.size();
  std::vector<std::uint32_t> order;
  Lanes lanes;
  std::int64_t& resolution = profile.clocks.back().resolution;
  OpTable ops(profile);
  // Neither knows of what the other is about.
  parallel_for(2, [&](std::size_t which) {
    if (which == 0) return add_ops(events.slices, ops, profile);
    order = nesting_order(events.slices, threads);
    resolution = resolution_of(events.slices);
    lanes = assign_lanes(events.slices, threads, order, resolution);
  });
  Flows flows = connect_flows(events.slices, events.marks, threads, order);
  BoundFlows bound = connect_bound_flows(events.slices, profile.strings);
  const UnitTable units = make_units(events, lanes.lane_count, profile);
  add_slices(std::move(events.slices), lanes, units, profile);
  ShapeTable shapes;
  for (const ArgumentShape& shape : profile.spans.arguments.shapes) shapes.intern(shape);
  add_mark_rows(events, units, ops, shapes, profile);
  profile.spans.arguments.shapes = shapes.take_shapes();
  profile.flows = std::move(flows.flows);
  profile.flows.insert(profile.flows.end(), bound.flows.begin(), bound.flows.end());
  note(
      profile, events.file, lanes.moved,
      "slices that overlap another of their thread without nesting, or lie inside such a slice: in "
      "lanes beside it");
  if (lanes.outlasting > 0) {
    profile.notes.push_back(
        {Severity::info, events.file, 0,
         fmt::format("slices that end up to {} after the slice that they began in, the resolution "
                     "of the file's times: nested in it",
                     resolution > 1 ? "1 us" : "1 ns"),
         lanes.outlasting});
  }
  if (lanes.early > 0) {
    profile.notes.push_back(
        {Severity::info, events.file, 0,
         "slices that begin shortly before the one before them ended: after it, "
         "not beside it",
         lanes.early});
  }
  note(profile, events.file, flows.unbound, "ends of flows where no slice is, left out");
  note(profile, events.file, flows.unpaired, "flow events without a beginning or an end, left out");
  note(profile, events.file, bound.unpaired,
       "slices with a bind_id that no other shares in the direction they name, without an arrow");
  note_fields(events, profile);
  if (is_own_export(events)) {
    restore_provenance(events.field("otherData"), profile);
    restore_kinds(profile);
    restore_phases(profile);
  }
  return profile;
}

}  // namespace npuscope::chrome
