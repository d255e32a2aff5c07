// Debug information of Torq's compiler as MLIR text: what each action of a dispatch does. It is in
// the phase dump X.executable-targets.mlir (--dump-compilation-phases-to=DIR), and since 2026-02 in
// DIR/<dispatch>.mlirb (--torq-debug-info=DIR), which is bytecode and must be made text first.
//
//   const auto dispatches = read_debug_info(text, "main_dispatch_0.mlir");
//   dispatches->front().actions[3]    3 torq_hl.start_program, program 1, @L3C10+@L4C10
//   dispatches->front().programs[1]   nss_program_1, job 1, actions 3 to 4, kernels add_0,
//                                     uses slice 0, DMA in, DMA out; 77 to 181 cycles
//
// A program uses a unit when one of its tasks starts it, or when it still runs from a program
// before. Which of them was busy for how long, a run does not say: only the compiler's estimates
// do.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/torq/debug/location.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::torq {

enum class NpuUnit : std::uint8_t { slice_0, slice_1, dma_in, dma_out, cdma, css };
inline constexpr std::size_t npu_unit_count = 6;
const char* name_of(NpuUnit unit);  // "Slice 0", "DMA In"
constexpr bool is_transfer(NpuUnit unit) {
  return unit == NpuUnit::dma_in || unit == NpuUnit::dma_out || unit == NpuUnit::cdma;
}

using UnitUse = std::array<bool, npu_unit_count>;

// An asynchronous operation of a unit, from the task that starts it to the one that waits for it.
struct UnitWork {
  NpuUnit unit = NpuUnit::slice_0;
  LocationId location{};
  std::string kernel{};                           // of slices, "add_0"
  std::uint32_t task = 0;                         // in DispatchInfo::tasks, that starts it
  std::uint32_t waiting_task = 0;                 // the one that waits for it
  std::optional<Interval> cycles{};               // estimated; none where nothing waits for it
  std::optional<std::int64_t> duration_cycles{};  // estimated, of the operation alone
  std::optional<std::int64_t> program_address{};  // of slices
  std::optional<std::int64_t> bytes{};            // of transfers
  bool fetches_code = false;                      // of the NSS: the next block of its program
  std::string source{}, destination{};            // of transfers: values of the text
};

struct NssTask {
  std::int64_t id = 0;
  LocationId location{};
  std::optional<Interval> cycles{};
};

// What a task tells a unit to do: torq_hw.dma_in_cfg, torq_hw.slice_start …
struct TaskOperation {
  std::string_view name{};  // of static storage
  std::int32_t slice = -1;  // of slices
  std::string kernel{};     // that a slice starts, or that it ran last
};

inline constexpr std::uint32_t no_program = ~std::uint32_t{0};

// A buffer in LRAM, from the first task that names it to the last.
struct LramBuffer {
  std::string name{};  // "__intermediate_1"
  Interval address{};  // bytes
  std::uint32_t first_task = 0, last_task = 0;
  std::uint32_t kernels = 0;    // slices that are given it
  std::uint32_t transfers = 0;  // that are to it or from it
};

enum class Executor : std::uint8_t { nss, host, other };

// One execution: from start_program to wait_program.
struct ProgramRun {
  Executor executor = Executor::nss;
  std::string name{};  // "nss_program_1"
  LocationId location{};
  std::optional<std::int64_t> job{};
  std::int32_t start_action = -1;
  std::int32_t wait_action = -1;  // -1: nothing waits for it
  UnitUse uses{};
  // Of the slices, as they started or, of earlier programs, ended: one for each execution.
  std::vector<std::string> kernels{};
  std::uint32_t first_task = 0, task_count = 0;
  // In DispatchInfo::operations: those of its tasks, within a task in the order of the older
  // tables.
  std::uint32_t first_operation = 0, operation_count = 0;
  std::vector<std::uint32_t> work{};  // in DispatchInfo::work: what ended in this program
  std::vector<std::uint32_t> unfinished_work{};  // what it started and a later one waited for
  std::optional<Interval> cycles{};              // estimated
  // What its transfers move, from XRAM and to XRAM; none where it has none.
  std::optional<std::int64_t> read_bytes{}, written_bytes{};
};

enum class ActionKind : std::uint8_t { start, wait, host_copy, other };

struct Action {
  std::int32_t id = 0;
  ActionKind kind = ActionKind::other;
  std::string operation{};  // "torq_hl.host_copy"
  LocationId location{};
  std::uint32_t program = no_program;  // in DispatchInfo::programs
};

struct DispatchInfo {
  std::string name{};  // of the function, "main_dispatch_0_elementwise"
  std::string file{};
  Locations locations;
  std::vector<Action> actions{};  // by id; each id once
  std::vector<ProgramRun> programs{};
  std::vector<NssTask> tasks{};
  std::vector<UnitWork> work{};
  std::vector<TaskOperation> operations{};
  std::vector<LramBuffer> lram{};  // in the order of their first tasks
  std::vector<Note> notes{};

  const Action* action(std::int64_t id) const;
};

// Whether text looks like MLIR, or like MLIR bytecode, by its first bytes.
bool looks_like_mlir(std::string_view head);
bool looks_like_mlir_bytecode(std::string_view head);
// What to do with bytecode, as the end of a sentence.
std::string mlir_bytecode_advice(std::string_view file);

// One for each function of a dispatch, also without actions. An input error when there is none.
Result<std::vector<DispatchInfo>> read_debug_info(std::string_view text, const std::string& file);

struct DebugInfo;

// Whether any of its work has a time: it was compiled with --torq-enable-profiling.
bool has_estimates(const DispatchInfo& dispatch);

// The estimates as one profile in cycles without a known rate, dispatch behind dispatch; none where
// they were compiled without --torq-enable-profiling. Flows say what the NSS had waited for when it
// started something. With `debug`, which the dispatches are of, ops are named after the operators
// of the model's source.
std::optional<Profile> make_profile(std::span<const DispatchInfo* const> dispatches,
                                    const DebugInfo* debug = nullptr);
inline std::optional<Profile> make_profile(const DispatchInfo& dispatch,
                                           const DebugInfo* debug = nullptr) {
  const DispatchInfo* const one = &dispatch;
  return make_profile({&one, 1}, debug);
}

}  // namespace npuscope::torq
