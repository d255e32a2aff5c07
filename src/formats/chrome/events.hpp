// The events of a file in Chrome Trace Event JSON, in columns, as they stand in the file: what a
// generic profile, an opstats trace and a QNN optrace are made from. Begin and end events have been
// paired; nothing else is interpreted.
//
//   slices     X, and B with its E        thread, name, category, time, duration, arguments
//   marks      everything else            phase, thread, name, category, time, id, arguments
//   threads    each (pid, tid) met        with the names and orders that M events give
//   fields     the other top-level keys   "displayTimeUnit": "ns"
//
// Times are thousandths of the file's unit: nanoseconds where it keeps to the format's
// microseconds, thousandths of a cycle or tick where a vendor puts those there.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/progress.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/arguments.hpp"
#include "npuscope/profile/column.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::chrome {

struct Thread {
  StringId process_id{};  // pid and tid as text, "0" or "rank 3"
  StringId thread_id{};
  StringId process_name{};
  StringId thread_name{};
  StringId process_labels{};
  std::int64_t process_sort_index = 0;
  std::int64_t thread_sort_index = 0;
};

// Row i of every column is one slice; slices stand in file order (a pair stands where it began).
struct Slices {
  Column<std::uint32_t> thread;
  Column<StringId> name;
  Column<StringId> category;  // empty when no slice has one
  Column<std::int64_t> start;
  Column<std::int64_t> duration;
  Arguments arguments;

  std::size_t size() const { return thread.size(); }
};

// Instants, asynchronous events, counters, flows, objects, samples, memory dumps ...
struct Marks {
  Column<char> phase;
  Column<std::uint32_t> thread;
  Column<StringId> name;
  Column<StringId> category;
  Column<std::int64_t> time;
  Column<StringId> id;  // as text; with its scope where it has one; empty: none
  // 'e' where the event binds to the enclosing slice ("bp", or QNN's misspelt "pb"), else 0.
  Column<char> binding;
  Column<std::uint32_t> slices_before;  // how many slices stand before it in the file
  Arguments arguments;                  // of a counter: its series

  std::size_t size() const { return phase.size(); }
};

struct Events {
  std::string file;  // the source's name
  StringPool strings;
  std::vector<Thread> threads;
  Slices slices;
  Marks marks;
  // Top-level members of the object form beside traceEvents, each as JSON text, in file order. A
  // member longer than 1 MiB is left out and noted.
  std::vector<std::pair<std::string, std::string>> fields;
  std::vector<Note> notes;
  Hertz rate{1'000'000'000};  // of the times, as far as the format says

  // The JSON text of a field; empty when the file has none.
  std::string_view field(std::string_view name) const;
};

struct ReadOptions {
  ProgressReport progress;  // bytes of the file
  // Arguments in quotes that are plain decimal numbers ("2606", "1450.248350") become numbers. For
  // traces whose writer quotes everything: each such text would be kept, and parsed again.
  bool quoted_numbers = false;
};

// Reads to the end of the source and keeps what can be kept: broken events, unmatched B and E and
// other losses are counted and located in `notes`. An input error only when not one event could be
// read. Uses all cores; memory is bounded by the events, not by the text.
Result<Events> read_events(ByteSource& source, const ReadOptions& options = {});

// A profile of what the events say by themselves: a unit per process and thread (lanes beside a
// thread whose slices overlap without nesting), an op per name and category, nanoseconds.
Profile make_profile(Events&& events);

}  // namespace npuscope::chrome
