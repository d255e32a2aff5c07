#include <optional>
#include <thread>
#include <utility>

#include "base/text.hpp"
#include "formats/chrome/collect/event_collector.hpp"
#include "formats/chrome/collect/pipeline.hpp"
#include "formats/chrome/events.hpp"
#include "formats/chrome/parse/chunk_parser.hpp"
#include "formats/chrome/text/event_cutter.hpp"

namespace npuscope::chrome {
namespace {

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
  return input_error("{}: not one event of it can be read: {} (first at byte {}); copy it again",
                     source.name(), problems.notes("").front().message,
                     problems.notes("").front().offset);
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
  if (const Status any = check_any_events(cutter, collector, problems, source); !any) {
    return tl::unexpected(any.error());
  }
  collector.problems() = problems;
  Events events = collector.finish();
  events.file = source.name();
  events.fields = std::move(cutter.fields());
  events.notes = collector.problems().notes(source.name());
  if (cutter.read_error()) {  // why the text ends where it does
    const std::string why(without_file(cutter.read_error()->message, source.name()));
    events.notes.insert(events.notes.begin(),
                        {Severity::error, source.name(), source.position(), why, 1});
  }
  return events;
}

}  // namespace npuscope::chrome
