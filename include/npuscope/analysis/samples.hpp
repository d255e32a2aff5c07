// The numbers of a run, one sample for each of its inferences, so that runs can be compared.
//
//   const RunSamples run(profile);
//   run.metrics()[0]        // {name: "wall", kind: wall, samples: {{0, 64829}, {1, 51002}}}
//   run.op_samples("work")  // the same for every group of ops
//
// First what people judge a run by, whatever its format calls it:
//
//   latency         an inference as the host's call saw it, end to end
//   device_latency  the same on the device
//   throughput      inferences per second
//   p50 … p99       percentiles of latency, where a table has them instead of samples
//
// `source` says which number of the profile each is. From the timeline: wall, active, idle, work,
// waiting (time in which something waits and nothing works), busy(HMX) (the busiest unit of a
// class), active(HMX) (any of them at work). Bytes: ddr_read_bytes and the like. Then each phase,
// phase('Graph Execute'), and each number that the profile has of the run, by its own name. A run
// whose spans do not say of which inference they are is one sample. A profile that was read from a
// snapshot has the numbers already.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/analysis/match_ops.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "npuscope/profile/run_numbers.hpp"

namespace npuscope::analysis {

// Beyond this many the inferences of a run are no samples of their own.
inline constexpr std::size_t max_inferences = 65'536;

// Numbers of a run that are taken; real profiles have tens.
inline constexpr std::size_t max_metrics = 4'096;

class RunSamples {
 public:
  explicit RunSamples(const Profile& profile);
  ~RunSamples();
  RunSamples(RunSamples&&) noexcept;

  const Profile& profile() const;
  const OpGroups& groups() const;
  const std::vector<Metric>& metrics() const;
  const std::vector<Metric>& call() const;            // those that runs are judged by
  const std::vector<Metric>& shares() const;          // of wall: share(DMA), share(idle)
  const Metric* metric(std::string_view name) const;  // of any; null: it has none
  std::uint64_t metrics_left() const;                 // beyond max_metrics

  // Whether its times are a compiler's model, which gives the same again for the same program.
  bool is_estimated() const;

  // Names of the columns that op_samples() has, the one that decides first: dominant path, else
  // work, else whatever the profile has of its ops.
  std::vector<std::string> op_columns() const;
  std::optional<OpSamples> op_samples(std::string_view column) const;

  // What `diagnose` finds; of one rule where it is named.
  RunFindings findings(const std::string& only = {}) const;

  // All of it, for a snapshot. Texts are of the profile, which must live as long.
  RunNumbers numbers() const;

  // Of all that the profile has; one 0 when nothing says.
  const std::vector<std::uint32_t>& inferences() const;

 private:
  struct Held;
  std::unique_ptr<Held> held_;
};

// Of several profiles side by side, in their order; they must live as long.
std::vector<RunSamples> samples_of(std::span<const Profile* const> profiles);

}  // namespace npuscope::analysis
