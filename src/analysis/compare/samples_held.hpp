// What RunSamples holds: what a profile says of each inference, made by samples_of_run.cpp from the
// profile's own numbers and found by samples.cpp when asked.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/inference_times.hpp"
#include "analysis/run_identity.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/match_ops.hpp"
#include "npuscope/analysis/samples.hpp"

namespace npuscope::analysis {

// Values of groups of ops and inferences, put together.

// Puts values of groups and inferences together: those of a group, then those of an inference. A
// table of all of them where that is not much larger than the values, else only those that are.
class Gathering {
 public:
  struct Entry {
    std::uint32_t group = 0;
    std::uint32_t inference = 0;  // a number from 0 on
    double value = 0;
  };

  Gathering(std::size_t groups, std::size_t inferences, std::size_t values);

  void add(Entry entry) {
    if (sums_.empty()) {
      entries_.push_back(entry);
      return;
    }
    const std::size_t place = std::size_t{entry.inference} * groups_ + entry.group;
    sums_[place] += entry.value;
    seen_[place] = 1;
  }

  // Fills in the entries, where each group's begin, and the inferences that have any. `ids`: what
  // the inferences are called.
  void finish(const std::vector<std::uint32_t>& ids, OpSamples& out);

 private:
  void put_rows(std::size_t first, const std::vector<std::uint32_t>& ids, OpSamples& out);
  void put_entries(std::size_t& next, const std::vector<std::uint32_t>& ids, OpSamples& out);

  std::size_t groups_, inferences_;
  std::vector<double> sums_;  // by inference, then by group: as runs have them
  std::vector<std::uint8_t> seen_;
  std::vector<Entry> entries_;
  std::vector<bool> any_;
};

TimeBase time_base(const Profile& profile, ClockId id);
SampleQuantity quantity_of(const Meaning& meaning);

// Where the numbers of an op column come from.
struct ColumnSource {
  enum class From : std::uint8_t { work, spans, ops };
  std::string name;
  MeasureKind kind = MeasureKind::work;
  Origin origin = Origin::measured;
  ClockId clock{};
  From from = From::work;
  std::size_t column = 0;  // of the spans' measures
  StringId what{};         // of the ops'
  Meaning meaning{.quantity = NumberQuantity::time};

  // The one that decides first: what wall depends on, then time, then anything countable.
  int preference() const {
    if (kind == MeasureKind::dominant_path) return origin == Origin::derived ? 0 : 1;
    if (from == From::work) return 2;
    return kind == MeasureKind::work ? 3 : kind == MeasureKind::active ? 4 : 5;
  }
};

struct RunSamples::Held {
  explicit Held(const Profile& of)
      : profile(of),
        groups(of),
        analysis(of),
        spans(analysis, only_inference(of).value_or(0), max_inferences),
        numbers(of.numbers ? *of.numbers : made) {}

  void make_numbers();

  void add_times();
  void add_engines(const std::vector<InferenceTimes>& times);
  void add_traffic();
  void add_counts();
  void add_phases();
  void add_numbers();
  void find_inferences();
  void find_columns();
  void find_call();
  void find_shares();
  Metric& add(std::string name, MeasureKind kind, SampleQuantity quantity, TimeBase time = {});
  OpSamples of_spans(const ColumnSource& source) const;
  OpSamples of_ops(const ColumnSource& source) const;

  const Profile& profile;
  OpGroups groups;
  Analysis analysis;
  Inferences spans;  // those that spans are of
  TimeBase base;     // of the profile: the clock's rate, or the one that it had during the timeline
  RunNumbers made;   // of the profile, but for what is only made when asked for
  const RunNumbers& numbers;
  std::vector<Metric>& metrics = made.metrics;
  std::unordered_map<std::string, std::size_t> place_of;
  Metric forgotten;
  std::vector<ColumnSource> columns;
  std::once_flag has_shares;
  std::vector<Metric> shares;  // when they are asked for
};

// What people judge a run by, found among the numbers that each format has of it: latency,
// device_latency, throughput and percentiles of latency (samples.hpp).
//
//   QNN HTP          latency: the host's call; device_latency: Graph Execute
//   Cloud AI 100     latency: total round trip; device_latency: device execution, else the wall of
//                    a raw buffer; throughput: the runner's
//   Synaptics Torq   latency: the queue's call; device_latency: first start to last end on the NPU
//   inferences alone latency: each of them, as AI Hub and Genie time them
//   steps of a trace latency: the step, as its annotation has it
//   a timeline       device_latency: first start to last end of what is not on the host

// `known`: the other numbers of the same profile, `base` the rate of its timeline.
std::vector<Metric> call_metrics(const Profile& profile, const Inferences& inferences,
                                 const std::vector<Metric>& known, const TimeBase& base);

// Names of the numbers of a run that stand between the host's call and the device, outermost first.
std::vector<std::string_view> call_layers(const std::vector<Metric>& metrics);

}  // namespace npuscope::analysis
