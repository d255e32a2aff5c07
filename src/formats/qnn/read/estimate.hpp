// What QNN's HTP compiler estimates on the host ("Hextimate"): a Chrome trace in cycles, alone as
// JSON or as text within a profiling log (<csv>_qnn.log), which is otherwise closed.
//
//   {"name": "q::ConvLayer_s1.opt", "ts": 42845, "dur": 928, "tid": 0,        on lane "FG"
//    "args": {"id": "0x439200000017", "flags": ["uses_hmx"], "bw_info": {"vtcm_read": 51200, …}}}
//
// A DMA op has three events, default_dma_start (op), default_dma (op) and default_dma_sync (op), an
// HVX op three as well: only one of them is work, and moves the bytes that each of them repeats.
// Ops are known by "id": many have one name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/chrome/events.hpp"
#include "formats/qnn/read/artifact_parts.hpp"
#include "formats/qnn/read/viewer.hpp"
#include "npuscope/profile/column.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::qnn {

struct EstimateLane {
  std::uint32_t core = 0;  // an NSP
  std::int64_t tid = 0;
  Engine engine = Engine::other;
  StringId name{};  // "HVX 1"
  StringId process_id{}, thread_id{};
};

enum class EstimateStep : std::uint8_t { work, transfer, start, sync, spawn, validate };

struct EstimateOp {
  std::uint64_t id = 0;
  std::uint32_t core = 0;
  StringId kind{};  // "q::ConvLayer_s1.opt"
  Engine engine = Engine::other;
  bool works = false;  // not only a checkpoint
  Traffic traffic;
  std::vector<std::int64_t> dims;
};

struct Estimate {
  std::string version;          // of the estimator
  std::string graph;            // where the log names it
  std::string soc;              // "SA8255"
  double core_megahertz = 0;    // 0: not stated
  std::int64_t vtcm_bytes = 0;  // likewise, as the next
  std::int64_t hvx_threads = 0;
  double ddr_bytes_per_second = 0;
  chrome::Events events;
  std::vector<EstimateLane> lanes;
  std::vector<EstimateOp> ops;
  // Of each event that is kept: its row in events.slices, its lane, its op and what it is.
  Column<std::uint32_t> rows, lane, op;
  std::vector<EstimateStep> steps;
  std::vector<std::uint32_t> core_of_thread;  // of counters
  std::int64_t first = 0, last = 0;           // cycles, of all events
};

// Whether a file begins like one: the trace, or a log that holds one.
bool is_estimate(std::string_view head);
bool is_log_with_estimate(std::string_view head);

// A trace within a log, and the graph that it is of.
struct EmbeddedTrace {
  std::string_view json;
  std::string graph;
};
// In the order of the log; the same one right after itself, of a preparation that is written twice,
// is left out.
std::vector<EmbeddedTrace> traces_in(std::string_view log);

// An input error when no op is in it.
Result<Estimate> read_estimate(chrome::Events&& events, CountedNotes& losses);

// The host estimate's sums, which ONNX Runtime's csv has between the preparation of a graph and its
// executes:
//
//   0,BACKEND,187922,CYCLES,…,Simulated (Accelerator exec cycles),        one graph's estimate
//   0,BACKEND,160234,CYCLES,…,Simulated (Accelerator exec cycles (lower estimate)),
//   0,BACKEND,1538048,BYTES,…,Input Fill,
//
// Rows that only group others are written as times of 0; "Missing Ops" is a count of ops whatever
// its unit says.

// The csv's cycles are so many more than from the first start to the last end of the trace.
inline constexpr std::int64_t cycles_around_estimate = 6;

struct EstimateRows {
  std::int64_t cycles = missing, lower = missing, upper = missing;
  std::int64_t microseconds = missing;  // rounded down
  // Bytes from and to DDR, by why they are moved.
  std::int64_t input_fill = missing, fill = missing, spill = missing, output_spill = missing;
  std::int64_t other_htp_fill = missing, other_htp_spill = missing;
  std::int64_t ops_without_estimate = missing;

  bool any() const { return cycles != missing; }
};

// Those in what a file says of a graph.
EstimateRows estimate_rows_of(const ViewerOutput& output);

// What the row of this label is for; none of most.
NumberRole role_of_estimate(std::string_view label);

}  // namespace npuscope::qnn
