#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "formats/torq/timeline_events.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::torq {
namespace {

const EventNames& names_of(TimelineEvent event) {
  return *std::find_if(event_names.begin(), event_names.end(),
                       [&](const EventNames& each) { return each.event == event; });
}

std::string row_text(const CompileTimeline& timeline, const TimelineRow& row) {
  std::string text = fmt::format("{},{},{},{}", row.id, row.end_cycles - row.start_cycles,
                                 row.start_cycles, names_of(row.event).label);
  auto out = std::back_inserter(text);
  if (row.event == TimelineEvent::slice) fmt::format_to(out, " {}", row.slice);
  fmt::format_to(out, ",{},", timeline.strings[row.location]);
  if (row.bytes) fmt::format_to(out, "{}", *row.bytes);
  return text + '\n';
}

// "DI0,0,45,loc(unknown),DMA_IN,364": transfers are counted together, slices and CSS each.
void write_ids(const CompileTimeline& timeline, AtomicFile& file) {
  std::size_t transfers = 0, slices = 0, css = 0;
  for (const TimelineRow& row : timeline.rows) {
    const EventNames& names = names_of(row.event);
    const bool is_slice = row.event == TimelineEvent::slice,
               is_css = row.event == TimelineEvent::css;
    std::size_t& number = is_slice ? slices : is_css ? css : transfers;
    std::string text = fmt::format("{}{}", names.id_prefix, number++);
    auto out = std::back_inserter(text);
    if (is_slice && row.slice != unknown_slice) fmt::format_to(out, "_{}", row.slice);
    const std::string_view operation = timeline.strings[row.operation];
    const std::string_view type = !is_slice           ? names.type
                                  : operation.empty() ? "unknown"
                                                      : operation;
    fmt::format_to(out, ",{},{},{},{}", row.start_cycles, row.end_cycles,
                   timeline.strings[row.location], type);
    if (row.bytes && !is_slice && !is_css) fmt::format_to(out, ",{}", *row.bytes);
    file.write(text + '\n');
  }
}

}  // namespace

Status write_timeline(const CompileTimeline& timeline, const std::filesystem::path& path,
                      TimelineVersion form) {
  if (form != TimelineVersion::task_id && form != TimelineVersion::ids) {
    return usage_error("timelines are written with task ids, or in the form of 2025");
  }
  auto file = AtomicFile::create(path);
  if (!file) return tl::unexpected(file.error());
  if (form == TimelineVersion::ids) {
    write_ids(timeline, *file);
    return file->commit();
  }
  file->write(timeline_header);
  for (const TimelineRow& row : timeline.rows) file->write(row_text(timeline, row));
  return file->commit();
}

}  // namespace npuscope::torq
