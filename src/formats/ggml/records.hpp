// What a line of the backend says, each kind on its own: no state, nothing of other lines.
//
//   const auto op = op_record("profile-op MUL_MAT|…|usec 29 cycles 62837 start 2694541202 mhz
//   2166.8"); op->operation            "MUL_MAT|…|hmx-tiled vtcm 7340032", for parse_operation()
//   op->numbers.cycles       62837
//
// Views are of the line. None where the line is cut, mixed with another or not of this kind.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/ggml/log.hpp"

namespace npuscope::ggml {

inline constexpr std::string_view op_word = "profile-op ", batch_word = "profile-op OPBATCH|",
                                  batch_end_word = "profile-batch ", event_word = "trace-evt ",
                                  event_of_op_word = "trace-op ";

// The numbers at the end of an op's line.
struct OpNumbers {
  std::uint64_t usec = 0, cycles = 0;
  std::optional<std::uint64_t> start, call_usec;
  bool has_mhz = false;
  std::array<std::uint32_t, pmu_counters> pmu{};
  bool has_pmu = false;
};

struct OpRecord {
  std::string_view operation;
  OpNumbers numbers;
  bool is_first_form = false;  // of G0, without "profile-op"
  Generation generation = Generation::none;
};
std::optional<OpRecord> op_record(std::string_view line);

using EventCounts = std::array<std::uint64_t, trace_threads>;

struct BatchHead {
  std::optional<std::uint64_t> runs;
  std::optional<EventCounts> events;  // that the NPU counted
  std::int64_t start = 0;             // of the counter, all 64 bits
  std::uint64_t usec = 0, cycles = 0;
};
std::optional<BatchHead> batch_head(std::string_view line);

struct BatchEnd {
  std::uint64_t runs = 0, host_usec = 0;
  std::optional<EventCounts> events;
};
std::optional<BatchEnd> batch_end(std::string_view line);

struct EventRecord {
  std::string_view name;
  std::uint8_t thread = 0;
  std::uint16_t info = 0;  // without the mark of a stop
  bool is_start = false;
  std::uint32_t counter = 0;  // low bits
};
// Of both words.
std::optional<EventRecord> event_record(std::string_view line);

// "Hexagon Arch version v79", "Profiling mode 3 …", "HTP0 hwinfo: …", "supports-op …|no": into the
// log.
void take_setting(std::string_view message, Log& log);

}  // namespace npuscope::ggml
