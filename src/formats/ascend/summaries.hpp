// Tables of Ascend's profiler that say again, in sums, what kernels and tasks say:
// op_statistic.csv, step_trace_time.csv and communication.json. Nothing is counted from them; a
// profile is tried against them, and collectives get what only the last one knows.
//
//   auto sums = ascend::read_summary(*source, ascend::Summary::steps);
//   ascend::add_summary(*sums, profile);      // profile.checks
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::ascend {

struct Summary {
  enum class Of : std::uint8_t { ops, steps, collectives } of = Of::ops;
  std::string file;

  struct OpRow {
    std::string type, core;
    std::int64_t count = 0, total_ns = 0;
  };
  std::vector<OpRow> ops;

  struct StepRow {
    std::optional<std::int64_t> step;
    std::int64_t computing_ns = 0, communication_ns = 0, exposed_ns = 0, overlapped_ns = 0;
  };
  std::vector<StepRow> steps;

  struct Collective {
    std::string name;  // "hcom_allReduce__586_0_1"
    std::int64_t elapse_ns = 0, transit_ns = 0;
    double transit_bytes = 0;  // over all links
  };
  std::vector<Collective> collectives;
};

// None of another file.
std::optional<Summary::Of> recognise_summary(std::string_view head);
// Whether it is another table or description that the profiler leaves next to its kernels.
bool looks_like_companion(std::string_view head);

Result<Summary> read_summary(ByteSource& source, Summary::Of of);
// analysis.db, which has the sums of steps.
bool is_summary_database(const std::filesystem::path& path);
Result<Summary> read_summary_database(const std::filesystem::path& path);
void add_summary(const Summary& summary, Profile& profile);

// profiler_info_N.json: what was recorded, "Level1, ACL_AICORE_PIPE_UTILIZATION".
bool looks_like_recording(std::string_view head);
std::string recording_in(std::string_view text);

}  // namespace npuscope::ascend
