// The executed ops of chrometrace.json (OP_TRACE), cleared of what makes naive sums wrong:
//
//   - every event stands twice, once in "Core N Overview" and once in its QNN op's process: the
//     second is dropped (one without a twin is kept);
//   - the lane "Non Executed Tensors" has made-up times: its rows become ops that never ran;
//   - the arguments of a sliced op repeat one slice's cycles: only ts, dur and tid count;
//   - ts is cycles since a base that no field names: it is found from the events;
//   - lanes are known by their thread's name, what an op runs on by its flags (of an op without any
//     "Flags": by its lane), neither by numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/chrome/events.hpp"
#include "npuscope/profile/column.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::qnn {

struct OpFlags {
  bool hmx = false, hvx = false, dma = false, dma_set = false, dma_wait = false, sync = false,
       null_exec = false;

  Engine engine() const;
  SpanKind span_kind() const;
  std::uint8_t rank() const { return hmx ? 0 : hvx ? 1 : 2; }  // owned_time.hpp
};

// From QNN's own words: "uses_hmx", "dma_wait".
void add_flag(OpFlags& flags, std::string_view word);

// The texts in a JSON array of texts; those with escapes as they stand.
std::vector<std::string_view> texts_in(std::string_view json_array);

struct TraceLane {
  std::uint32_t core = 0;
  std::int64_t tid = 0;
  Engine engine = Engine::other;
  StringId type{};  // "HMX" of "Type: HMX"; empty: unnamed
  StringId process_id{}, thread_id{};
};

struct TraceOp {
  std::uint64_t id = 0;
  StringId padded_id{};  // as the file has it, where that is 0x and 16 digits
  std::uint32_t core = 0;
  bool executed = false;
  OpFlags flags;
  StringId htp_op{}, qnn_op{}, qnn_op_type{}, type{};
  StringId dims{}, flag_words{}, inputs{};  // JSON arrays
};

struct OpTrace {
  std::string version;
  chrome::Events events;  // the slices' times in thousandths of cycles since the base
  std::vector<TraceLane> lanes;
  std::vector<TraceOp> ops;
  // Of each executed op that is kept: its row in events.slices, its lane and its op.
  Column<std::uint32_t> rows;
  Column<std::uint32_t> lane;
  Column<std::uint32_t> op;
  std::vector<std::uint32_t> core_of_process;  // by thread; of counters and flows
  std::vector<std::uint32_t> lane_of_thread;   // by thread; no_lane: not executed
  static constexpr std::uint32_t no_lane = ~std::uint32_t{0};
  bool has_base = false;
  std::int64_t base = 0;  // the absolute cycle of ts 0
  std::uint64_t duplicates = 0;
  std::uint64_t not_executed = 0;
  std::uint64_t sliced = 0;  // rows whose arguments are another slice's
};

// An input error when no executed op is in it.
Result<OpTrace> read_op_trace(chrome::Events&& events, CountedNotes& losses);

// `thousandths` of a time on the trace's axis as an absolute cycle.
std::int64_t absolute_cycle(const OpTrace& trace, std::int64_t thousandths);

}  // namespace npuscope::qnn
