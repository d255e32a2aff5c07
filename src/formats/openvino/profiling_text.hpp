// The text in which Intel's NPU prints the profile of an inference (prof_parser -f text,
// NPU_PRINT_PROFILING=TEXT): a line a task, a line a layer, and two totals. As JSON it is a Chrome
// trace (roles/openvino.toml); the text becomes the same events, so that the same roles hold.
//
//   Task(DPU): conv1?t_Convolution/cluster_1   Time(us): 0.20   Start(us): 0.00
//   Task(SW): relu2?t_Relu/tile_0/cluster_5    Time(us): 9.84   Cycles:12(2394)   Start(us): 36.72
//   Layer: conv1   Type: Convolution   DPU: 12.38   SW: 0.00   DMA: 0.00   Start: 0.00
//   Total time: 162.46us, Real: 47.13us
//
//   auto runs = openvino::read_profiling_text(*source);
//   Profile profile = openvino::make_profile((*runs)[0], {});
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/event_roles.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::openvino {

inline constexpr const char* text_format = "OpenVINO profiling text";

enum class TaskKind : std::uint8_t { dpu, sw, dma };

struct Task {
  TaskKind kind = TaskKind::dpu;
  std::string name;
  std::int64_t start_ns = 0, duration_ns = 0;
  std::int64_t cycles = -1, stalls = -1;  // of SW, below 0: not stated
};

struct Layer {
  std::string name;
  std::array<std::int64_t, 3> ns{};  // of tasks, by kind
};

// What is printed of one inference.
struct Run {
  std::string file;
  std::vector<Task> tasks;
  std::vector<Layer> layers;
  std::optional<std::int64_t> total_ns, real_ns;
  std::vector<Note> notes;
};

bool looks_like_profiling_text(std::string_view head);
// Each inference that the text has, at least one.
Result<std::vector<Run>> read_profiling_text(ByteSource& source);
Profile make_profile(const Run& run, std::span<const RoleTable> roles);

}  // namespace npuscope::openvino
