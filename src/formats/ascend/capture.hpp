// The profiler's database (ascend_pytorch_profiler_N.db, msprof_*.db), read as the events that
// trace_view.json has of the same, and the table of its kernels.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/ascend/kernels.hpp"
#include "formats/chrome/events.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::ascend {

struct Capture {
  chrome::Events events;
  KernelTable kernels;
  std::vector<std::uint32_t> rows;  // of each kernel, its slice
  std::vector<Flow> flows;          // between slices
  struct Sample {                   // of a counter
    std::string name, unit;         // "HBM 0/Read", "B/s"
    std::int64_t time_ns = 0;
    double value = 0;
  };
  std::vector<Sample> samples;  // by time
  std::string device;           // "Ascend910B"
  std::string version;
};

// Whether it has the tables of a capture: a sum of others (analysis.db) has not.
bool is_capture(const std::filesystem::path& path);
Result<Capture> read_capture(const std::filesystem::path& path);

}  // namespace npuscope::ascend
