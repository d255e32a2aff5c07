// What inferences took on the host and on the device, step by step, as percentiles; and whether the
// host keeps the device at work.
//
//   const Latency latency = analyse_latency(profile);   // of a runner's latency file, or its log
//   latency.rows[0]                 // "device execution": mean, least, median … 99 %, most
//   latency.throughput->gap_share   // 0.21: the device could do 21 % more
//   latency.throughput->cause       // input_wait
//
// Percentiles lie between samples linearly (percentile_of of statistics.hpp), as in the vendor's
// own table. A profile of that table has no samples: its percentiles are taken as they are. A
// runner's log has mean, least and most of what the device measured, and the system's throughput.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "npuscope/profile/profile.hpp"
#include "npuscope/profile/run_numbers.hpp"

namespace npuscope::analysis {

// What the steps of a loop took where a generic trace names them: frames of inferences on a
// process or a thread.
//
//   step_times(profile)    // {"ProfilerStep#", {{3, 99026127}, {4, 54408513}, …}}
struct StepTimes {
  std::string name;             // of the steps, without their numbers
  std::vector<Sample> samples;  // in the order of inferences; of several ranks the slowest
};

StepTimes step_times(const Profile& profile);

inline constexpr std::array<double, 5> latency_percentiles{50, 75, 90, 95, 99};
// The statistic of latency_percentiles[place].
constexpr Statistic statistic_of_percentile(std::size_t place) {
  return Statistic(std::size_t(Statistic::p50) + place);
}

struct LatencyRow {
  std::string name;  // "device execution", "enqueue", "total round trip"
  MeasureKind kind = MeasureKind::wall;
  std::uint64_t samples = 0;  // 0: of a table that does not say
  // Ticks of the base clock
  std::optional<double> mean, min, max;
  std::array<std::optional<double>, latency_percentiles.size()> percentiles;
  std::vector<double> values = {};  // of each sample; empty where only the statistics are known
};

enum class ThroughputGap : std::uint8_t {
  none,         // the host keeps up: the gap is below 5 %
  input_wait,   // the device waits for inputs
  output_wait,  // it waits for outputs to leave
  other,        // neither; between its inferences
};

// Batches per second, of one activation.
struct Throughput {
  double device = 0;       // if it executed without a break: 1 / mean execution
  double system = 0;       // inferences under way by mean round trip (Little's law)
  double gap_share = 0;    // 1 - system / device, not below 0
  double queue_depth = 0;  // mean of what was under way when one was queued; 0: not known
  double batch = 0;        // inferences per batch; 0: not known
  ThroughputGap cause = ThroughputGap::none;
  // Mean ticks between the ends of two batches, and what of them is which.
  double period = 0, execution = 0, input_wait = 0, output_wait = 0;
  // Instances of the network that shared the work, where the source is of all of them: as many as
  // the system's throughput needs with these times. A runner's log does not say.
  double activations = 1;

  double per_batch() const { return batch > 0 ? batch : 1; }
  double device_inferences() const { return device * activations * per_batch(); }
  double system_inferences() const { return system * activations * per_batch(); }
};

// Mean ticks of one batch.
struct ThroughputTimes {
  double period = 0, execution = 0, input_wait = 0, output_wait = 0;
  double queue_depth = 0;
};
// Of times above 0; batch is left open.
Throughput judge_throughput(const ThroughputTimes& times, double ticks_per_second);

struct Latency {
  std::vector<LatencyRow> rows;
  // Of the samples after the host had filled its queue; none: there are none, or the device's share
  // was not measured.
  std::optional<Throughput> throughput;
  bool all_of_beginning = false;  // all samples are from before
};

// Which samples of a latency file, by row, are from before the host had filled its queue: what is
// under way still grows, and so does the round trip.
std::vector<bool> samples_of_beginning(const Profile& profile);

// No rows where the profile is neither of inferences alone, as a latency file, nor a runner's log.
Latency analyse_latency(const Profile& profile);

// Of a profile that has more: each inference as the host saw it, and before it the phases that lie
// within. No rows where one unit of the host does not have every inference once.
std::vector<LatencyRow> inferences_as_samples(const Profile& profile);

}  // namespace npuscope::analysis
