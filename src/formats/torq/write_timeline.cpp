#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "formats/torq/timeline_events.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::torq {
namespace {

std::string row_text(const CompileTimeline& timeline, const TimelineRow& row) {
  const auto names = std::find_if(event_names.begin(), event_names.end(),
                                  [&](const EventNames& each) { return each.event == row.event; });
  std::string text = fmt::format("{},{},{},{}", row.id, row.end_cycles - row.start_cycles,
                                 row.start_cycles, names->label);
  auto out = std::back_inserter(text);
  if (row.event == TimelineEvent::slice) fmt::format_to(out, " {}", row.slice);
  fmt::format_to(out, ",{},", timeline.strings[row.location]);
  if (row.bytes) fmt::format_to(out, "{}", *row.bytes);
  return text + '\n';
}

}  // namespace

Status write_timeline(const CompileTimeline& timeline, const std::filesystem::path& path) {
  auto file = AtomicFile::create(path);
  if (!file) return tl::unexpected(file.error());
  file->write(timeline_header);
  for (const TimelineRow& row : timeline.rows) file->write(row_text(timeline, row));
  return file->commit();
}

}  // namespace npuscope::torq
