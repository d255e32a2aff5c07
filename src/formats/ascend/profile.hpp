// Captures by Ascend's profiler as profiles. Every source of kernels becomes events as in
// trace_view.json, so that the roles of that file (roles/ascend.toml) say of all what is work, and
// then gets what its table of kernels knows beyond that.
//
//   std::vector<std::uint32_t> rows;
//   Profile profile = chrome::make_profile(ascend::kernel_events(table, rows));
//   apply_roles(profile, {});
//   ascend::join_kernels(table, rows, profile);
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/ascend/kernels.hpp"
#include "formats/chrome/events.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::ascend {

// The profiler's database (ascend_pytorch_profiler_N.db, msprof_*.db), read as the events that
// trace_view.json has of the same, and the table of its kernels.
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

inline constexpr const char* format_name = "Ascend profiler";
inline constexpr std::uint32_t no_row = ~std::uint32_t{0};

// Whether a generic trace is trace_view.json or msprof_*.json: it has the tracks of the NPU.
bool is_trace_view(const Profile& profile);

// Of a table alone: streams, collectives, and steps where the table numbers them. `rows` is of each
// kernel its slice.
chrome::Events kernel_events(const KernelTable& table, std::vector<std::uint32_t>& rows);

// Of each kernel the span that a trace has of it; no_row of those that it lacks.
std::vector<std::uint32_t> rows_of_kernels(const KernelTable& table, const Profile& profile);
// When the work of the NPU began, of kernels that a profile and tables may share.
std::vector<std::int64_t> kernel_starts(const Profile& profile);
std::vector<std::int64_t> kernel_starts(const KernelTable& table);

// Types, shapes and counters of kernels; kernels move from their streams to the kind of core that
// ran them.
void join_kernels(const KernelTable& table, const std::vector<std::uint32_t>& rows,
                  Profile& profile);

}  // namespace npuscope::ascend
