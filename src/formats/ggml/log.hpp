// The profile log of llama.cpp's Hexagon backend (GGML_HEXAGON_PROFILE), read: what the lines say,
// with counters unwrapped and events paired, before any of it is a profile.
//
//   auto log = ggml::read_log(*source);
//   log->batches[0].cycles                     1083787   what the NPU was given at once
//   log->runs[1].cycles                        62837     an op of it
//   log->operators[log->runs[1].operation]     MUL_MAT_NX of blk.0.attn_q.weight and others
//   log->events[4]                             HVX_COMP of thread 3, when it began and how long
//
// Docs: docs/formats/ggml_hexagon.md, with the generations G0 to G6 of the log.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/ggml/coverage.hpp"
#include "formats/ggml/operation.hpp"
#include "formats/ggml/results.hpp"
#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/progress.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::ggml {

inline constexpr std::size_t trace_threads = 11;  // 0 to 9 are workers, 10 is the queue of the HMX
inline constexpr std::size_t hmx_thread = 10;
inline constexpr std::size_t pmu_counters = 8;

// What lines look like; later generations say more.
enum class Generation : std::uint8_t { none, g0, g1, g2, g3, g4, g5, g6 };

// One execution of an operation.
struct OpRun {
  std::uint32_t operation = 0;
  std::uint32_t usec = 0;    // whole microseconds, cut
  std::uint64_t cycles = 0;  // of the core's clock
  std::int64_t start = -1;   // of the counter of cycles, unwrapped; -1: not stated
  std::uint32_t call_usec = 0;
  std::uint32_t pmu = ~std::uint32_t{0};  // place in Log::pmu
};

struct Event {
  std::int64_t start = 0;  // of the counter of cycles, unwrapped
  std::uint32_t cycles = 0;
  std::uint8_t thread = 0;
  std::uint8_t name = 0;  // place in Log::event_names
  std::uint16_t info = 0;
};

// What one message to the NPU held.
struct Batch {
  std::uint32_t session = 0;
  std::uint32_t first_run = 0, runs = 0;
  std::size_t first_event = 0;
  std::uint32_t events = 0;
  std::uint32_t clock = 0;                          // place in Log::clocks
  std::uint32_t graph = Coverage::no_graph;         // that the scheduler printed before it
  std::optional<std::int64_t> start;                // of the counter of cycles
  std::uint64_t cycles = 0;                         // of all of it; 0: not stated
  std::uint32_t usec = 0;                           // as stated
  std::optional<std::uint32_t> host_usec;           // from the host's push to its pop
  std::optional<std::int64_t> printed_us;           // when the host printed its first line
  std::int64_t printing_us = 0;                     // until it printed its last
  std::array<std::uint64_t, trace_threads> lost{};  // events, by thread
  bool may_have_lost = false;                       // the log does not say how many
};

// A stretch of the log in which the clock fits all that is stated of it.
struct CoreClock {
  double cycles_per_us = 0;
  double error = 0;  // share that rounding may change
};

struct Session {
  std::string name;
  std::uint32_t threads = 0, hvx = 0, hmx = 0;  // 0: not stated
  std::uint64_t vtcm_bytes = 0;
};

struct Log {
  std::string name;
  Generation generation = Generation::none;
  std::string arch;         // "v79"
  std::optional<int> mode;  // GGML_HEXAGON_PROFILE
  std::vector<std::uint32_t> pmu_events;
  std::vector<Session> sessions;
  std::vector<Operation> operations;
  std::vector<std::string> event_names;
  std::vector<OpRun> runs;
  std::vector<Event> events;
  std::vector<std::array<std::uint32_t, pmu_counters>> pmu;
  std::vector<Batch> batches;  // in the order of the log
  std::vector<CoreClock> clocks;
  Results results;
  Coverage coverage;
  std::vector<Note> notes;
  bool has_call_times = false;  // G0 and G1
  std::uint64_t calls_below_ops = 0;

  std::uint64_t lost_events() const;
  // Its place in `sessions`, perhaps a new one; most lines are of the session of the line before.
  std::uint32_t session_named(std::string_view name, std::uint32_t expected = 0);
};

// Whether the first bytes of a text are of such a log, or of llama.cpp's results alone.
bool looks_like_log(std::string_view head);

Result<Log> read_log(ByteSource& source, const ProgressReport& progress = {});

}  // namespace npuscope::ggml
