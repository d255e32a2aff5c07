// The timeline that the Torq compiler estimates: torq-compile --torq-enable-profiling
// --torq-dump-profiling=FILE. A row is one transfer or program on one unit of the NPU.
//
//   taskId, elapsed_time(us), timestamp(us), event, location, bytes
//   6,56,122,DMA In,loc(unknown),264           122 to 178
//   7,2,178,Slice 0,loc("add.mlir":3:10),
//
// Its numbers are cycles of the compiler's cost model in every version, whatever the header says.
// Rows are in the order of units, not of time; a file holds the last dispatch that was compiled.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::torq {

enum class TimelineVersion : std::uint8_t {
  none,
  ids,           // no header: DI0,0,45,loc(unknown),DMA_IN          2025-10
  action_index,  // header with actionIndex                          2026-02
  task_id,       // header with taskId                               2026-02 on
};

// By the first bytes of a file.
TimelineVersion recognise_timeline(std::string_view head);

enum class TimelineEvent : std::uint8_t {
  dma_in,
  dma_out,
  cdma_lram_to_dtcm,
  cdma_lram_to_itcm,
  cdma_dtcm_to_lram,
  slice,
  css,
};

inline constexpr std::int32_t unknown_slice = -1;

struct TimelineRow {
  // Of version ids the number in the row's id, among rows of its kind; else the action, or the
  // task.
  std::int64_t id = 0;
  TimelineEvent event = TimelineEvent::dma_in;
  std::int32_t slice = unknown_slice;  // of slices: which one
  std::int64_t start_cycles = 0;
  std::int64_t end_cycles = 0;
  std::optional<std::int64_t> bytes;
  StringId location{};   // "loc(…)"
  StringId operation{};  // "fully_connected", where the version has it
};

struct CompileTimeline {
  TimelineVersion version = TimelineVersion::none;
  bool has_bytes = false;
  StringPool strings;
  std::vector<TimelineRow> rows;
  std::vector<Note> notes;  // rows that are none, counted
};

// An input error when there is no row.
Result<CompileTimeline> read_timeline(ByteSource& source);

// In the current form, task_id, or in that of 2025, ids; rows in their order. A usage error for
// another.
Status write_timeline(const CompileTimeline& timeline, const std::filesystem::path& path,
                      TimelineVersion form = TimelineVersion::task_id);

class SourceFiles;
struct DebugInfo;
struct DispatchInfo;

// The dispatch whose estimate the timeline is; null where it is of none of these.
const DispatchInfo* dispatch_of(const CompileTimeline& timeline, const DebugInfo& debug);

// Units DMA In, DMA Out, CDMA, slices and CSS; an op per location and kind of work; spans in
// cycles without a known rate. Ops are called after debug information of the dispatch, else after
// the operators of the model's source, else by their places.
Profile make_profile(const CompileTimeline& timeline, SourceFiles* sources = nullptr,
                     const DebugInfo* debug = nullptr);

}  // namespace npuscope::torq
