// What the writers share: the styles of the viewer, ids, numbers as it prints them.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/text_output.hpp"
#include "formats/chrome/trace_events.hpp"
#include "formats/qnn/write/write.hpp"

namespace npuscope::qnn::optrace {

inline constexpr std::uint32_t not_executed_tid = 1;

// How the viewer prints events.
consteval chrome::TraceStyle viewer_style(const JsonLayout& arguments) {
  return {
      .events{R"({ "name": ?, "ph": ?, "tid": ?, "pid": ?, "ts": ?, "dur": ?, "args": ? })",
              arguments},
      .flow{R"({ "cat": ?, "name": ?, "tid": ?, "pid": ?, "ts": ?, "ph": ?, "pb": ?, "id": ?})"},
      .counter{R"({ "name": ?, "ph": ?, "tid":?, "pid":?, "ts":?, "args": ?})", JsonLayout::wide()},
      .metadata{R"({ "cat": ?, "pid": ?, "tid": ?, "ph": ?, "name": ?, "args": ?})",
                JsonLayout::wide()},
      .time = chrome::TraceTime::as_they_are};
}
inline constexpr std::string_view metadata_category = "__metadata";

// What begins a file of events.
std::string trace_header(std::string_view artifact);

inline std::string padded_id(std::uint64_t id) { return fmt::format("0x{:016x}", id); }

// Ops by id, as the viewer lists tensors and nodes.
std::vector<std::uint32_t> ops_by_id(const OptraceSet& set);

// By op: its instance with the lowest (tid, start), which stands for all its slices; none: ~0u.
std::vector<std::uint32_t> representatives(const OptraceSet& set);

// Of a thread in cycles per instruction packet; 0 when packets were not counted.
double cycles_per_packet(const Instance& instance);

// The phase of an execute with this name; null when it has none.
const Phase* find_phase(const Execute& execute, std::string_view name);

// Of a phase, rounded down; 0 for null.
std::uint64_t whole_microseconds(const OptraceSet& set, const Phase* phase);

}  // namespace npuscope::qnn::optrace
