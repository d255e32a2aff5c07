// What the names in operator traces say.
//
//   parse_track_name("QAicGraph_slice01_Core_3_DMAIssue_DMA_1")
//       label QAicGraph_slice01, core 3, group DMAIssue, kind dma
//   parse_slice_name("aicconvolutiond32-Inf-6", …)     kernel aicconvolutiond32, inference 6
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "npuscope/profile/profile.hpp"

namespace npuscope::qaic {

// Kernel names as the vendor's tools write them: those of elementwise kernels end with a blank.
// npuscope keeps names without it.

constexpr std::string_view without_trailing_blanks(std::string_view name) {
  return name.substr(0, name.find_last_not_of(' ') + 1);
}

// Names that begin with "element" or end with "splat", in every summary known.
constexpr bool ends_with_blank(std::string_view name) {
  return name.starts_with("element") || name.ends_with("splat");
}

struct TrackName {
  enum class Kind : std::uint8_t { core, engine, dma, barrier };
  Kind kind = Kind::core;
  std::string_view label;  // QAicGraph_slice01; may be empty
  std::uint32_t core = 0;
  std::string_view group;               // HVX, HMX, DMAIssue; empty for the core's own track
  std::optional<std::uint32_t> thread;  // of _T2
};
std::optional<TrackName> parse_track_name(std::string_view name);

struct ProcessName {
  std::string_view label;
  std::optional<std::uint32_t> core;
  std::optional<std::uint32_t> device;
  bool is_host = false;
};
// "Program:BenchmarkSet_10 [QAicGraph_Core_0]", "Process 3", "HOST_PROC (pid 18)",
// "QAicGraph_Core_0 device 1 activation 2".
ProcessName parse_process_name(std::string_view name);

// What a slice is by its name. `kernel` is the name without the inference's number.
struct SliceName {
  SpanKind kind = SpanKind::op;
  std::string_view kernel;
  std::string_view group;  // of a wait: "sync HVX"
  std::optional<std::uint32_t> inference;
};
// `op_kind` is the slice's opKind, or empty: "x-3" is inference 3 only of a kernel named "x" or of
// a wait.
SliceName parse_slice_name(std::string_view name, std::string_view op_kind);

Engine engine_of_group(std::string_view group);
// Threads of a core stand in this order on every device known: 0 to 3 HVX, 4 HMX, 5 DMAIssue.
std::string_view group_of_thread(std::uint32_t thread);
std::uint32_t first_thread_of_group(std::string_view group);
std::uint32_t threads_of_group(std::string_view group);

}  // namespace npuscope::qaic
