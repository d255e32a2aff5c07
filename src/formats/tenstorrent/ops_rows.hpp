// The rows of an ops_perf file, typed. Columns are found by their heads, whatever the version has
// more.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "npuscope/base/byte_source.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::tenstorrent {

struct TensorCell {
  std::array<std::int64_t, 4> extents{};  // w, z, y, x without padding
  StringId layout{}, type{}, memory{};    // "TILE", "BFLOAT16", "DEV_1_DRAM_INTERLEAVED"
};

struct OpsRow {
  enum class Is : std::uint8_t { device, host, signpost };

  Is is = Is::device;
  std::uint64_t offset = 0;  // in the file
  StringId code{};           // "MatmulDeviceOperation"; a signpost's name
  StringId fidelity{}, replay{};
  std::uint32_t device = 0;
  std::optional<std::int64_t> start_cycle, end_cycle, firmware_ns, kernel_ns, gap_ns, host_ns;
  std::optional<double> ideal_ns, compute_ns, bandwidth_ns, fpu_percent, dram_percent, noc_percent,
      cores;
  std::optional<bool> was_cached;
  std::vector<TensorCell> inputs, outputs;

  bool has_times() const { return start_cycle && end_cycle && firmware_ns && *firmware_ns >= 0; }
};

struct OpsFile {
  StringPool strings;
  std::string architecture;  // "blackhole"; empty: an older version does not say
  std::vector<OpsRow> rows;

  bool is_in_dram(const TensorCell& tensor) const {
    return strings[tensor.memory].find("DRAM") != std::string_view::npos;
  }
  // None where the type has no size that is known.
  std::optional<double> bytes_of(const TensorCell& tensor) const;
};

Result<OpsFile> read_ops_rows(ByteSource& source, CountedNotes& losses);

}  // namespace npuscope::tenstorrent
