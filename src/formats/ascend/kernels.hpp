// The kernels and collectives of a capture by Ascend's profiler, whatever file they stand in: the
// rows of kernel_details.csv or op_summary_*.csv, or of the database's tables.
//
//   auto table = ascend::read_kernels(*source);
//   table->kernels[2].type          "Conv2D"
//   table->kernels[2].core          "AI_CORE"
//   table->kernels[2].start_ns      1736408883704903218, as the file states it
//   table->numbers[0].values[2]     312164, ns in which the AI Core worked
//
// Docs: docs/formats/ascend.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::ascend {

struct Kernel {
  static constexpr std::int64_t none = -1;  // not stated

  StringId name{}, type{}, core{};  // empty: not stated
  StringId inputs{}, input_types{}, outputs{};
  std::int64_t start_ns = 0, duration_ns = 0;
  std::int64_t wait_ns = none;  // since the task before it ended
  std::int64_t device = 0, stream = none, step = none, blocks = none;
  bool is_collective = false;
};

// A counter that kernels have: times in ns, cycles, else a share or a rate.
struct KernelNumber {
  enum class Is : std::uint8_t { time, cycles, other } is = Is::other;
  std::string name;  // "AI Core MAC time"
  static constexpr std::int64_t missing = MeasureColumn::missing;
  std::vector<std::int64_t> values;  // of times and cycles, by kernel
  std::vector<double> rates;         // of others; not finite: missing
};

struct KernelTable {
  std::string file;
  StringPool strings;
  std::vector<Kernel> kernels;
  std::vector<KernelNumber> numbers;
  std::vector<Note> notes;
};

// "aic_mac_time(us)" of a head or "aic_mac_time" of the database; none of what is not a counter of
// a core, or a share that a time beside it says too.
std::optional<KernelNumber> kernel_number(std::string_view head);

// Of a table's type or a name alone: what exchanges data with other devices.
bool is_collective(std::string_view core, std::string_view type, std::string_view name);

// "53.741" in ns; none of what is not a time, as "N/A".
std::optional<std::int64_t> microseconds_as_ns(std::string_view text);

bool looks_like_kernels(std::string_view head);
Result<KernelTable> read_kernels(ByteSource& source);

}  // namespace npuscope::ascend
