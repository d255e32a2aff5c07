#include <algorithm>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/per_thread.hpp"
#include "base/pipeline.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/chrome/collect/event_collector.hpp"
#include "formats/chrome/events.hpp"
#include "formats/chrome/parse/chunk_parser.hpp"
#include "formats/chrome/text/chunk.hpp"
#include "formats/chrome/text/event_cutter.hpp"

namespace npuscope::chrome {
namespace {

// Reading, parsing and collecting side by side: chunks are cut in order, parsed on all cores, and
// collected in order again. Few are under way at a time, so memory stays bounded.

void collect_chunks(const std::function<std::optional<Chunk>()>& next, EventCollector& collector) {
  struct Slot {
    std::optional<Chunk> chunk;
    std::optional<ChunkTable> table;
  };
  std::vector<Slot> slots(2 * workers());
  std::size_t number = 0;
  PerThread<ChunkParser> parsers;
  run_pipeline<Slot*>(
      slots.size(),
      [&]() -> Slot* {
        Slot& slot = slots[number++ % slots.size()];
        slot.chunk = next();
        return slot.chunk ? &slot : nullptr;
      },
      [&](Slot* slot) {
        slot->table.emplace(parsers.mine().parse(std::move(*slot->chunk)));
        slot->chunk.reset();
      },
      [&](Slot* slot) {
        collector.append(std::move(*slot->table));
        slot->table.reset();
      });
}

// In the order of the places.
std::vector<Note> notes_of(const Problems& problems, const std::string& file) {
  std::vector<Note> notes = problems.notes(file);
  std::ranges::stable_sort(notes, {}, &Note::offset);
  return notes;
}

Status check_any_events(const EventCutter& cutter, const EventCollector& collector,
                        const Problems& problems, const ByteSource& source) {
  if (collector.any_events()) return {};
  if (cutter.read_error()) return tl::unexpected(*cutter.read_error());
  if (!cutter.found_list()) {
    return input_error(
        "{}: not a Chrome trace: it is neither a list of events nor an object with "
        "\"traceEvents\"; "
        "check that it is the right file",
        source.name());
  }
  if (!problems.any()) return {};
  const Note first = notes_of(problems, "").front();
  return input_error("{}: not one event of it can be read: {} (first at byte {}); copy it again",
                     source.name(), first.message, first.offset);
}

}  // namespace

Result<Events> read_events(ByteSource& source, const ReadOptions& options) {
  BufferPool buffers;
  EventCutter cutter(source, buffers);
  EventCollector collector(buffers);
  const auto next = [&]() -> std::optional<Chunk> {
    Chunk chunk;
    if (!cutter.next(chunk)) return std::nullopt;
    chunk.quoted_numbers = options.quoted_numbers;
    if (source.file_bytes() > 0) {
      chunk.part_of_file = double(source.file_bytes_read()) / double(source.file_bytes());
    }
    if (options.progress) options.progress(source.file_bytes_read(), source.file_bytes());
    return chunk;
  };
  collect_chunks(next, collector);
  Problems problems = cutter.problems();
  problems.add(collector.problems());
  TRY(check_any_events(cutter, collector, problems, source));
  collector.problems() = problems;
  Events events = collector.finish();
  events.file = source.name();
  events.fields = std::move(cutter.fields());
  events.notes = notes_of(collector.problems(), source.name());
  if (cutter.read_error()) {  // why the text ends where it does
    const std::string why(without_file(cutter.read_error()->message, source.name()));
    events.notes.insert(events.notes.begin(),
                        {Severity::error, source.name(), source.position(), why, 1});
  }
  return events;
}

}  // namespace npuscope::chrome
