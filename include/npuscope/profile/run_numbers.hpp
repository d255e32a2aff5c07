// The numbers of a run, one sample for each of its inferences: what a comparison needs of it, and
// all that a snapshot keeps. analysis/samples.hpp makes them of a profile; a profile that was read
// from a snapshot has them in place of spans.
//
//   if (profile.numbers) profile.numbers->metrics[0]   // {name: "wall", samples: {{0, 64829}}}
//   if (profile.numbers) profile.numbers->columns[0]   // the work of each group of ops
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/string_pool.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope {

enum class SampleQuantity : std::uint8_t { time, bytes, count, share };

// In what a time counts.
struct TimeBase {
  ClockKind kind = ClockKind::wall;
  std::string_view name;
  double hertz = 0;  // 0: not known
  bool operator==(const TimeBase&) const = default;
};

struct Sample {
  std::uint32_t inference = 0;
  double value = 0;
  bool operator==(const Sample&) const = default;
};

struct Metric {
  std::string name;
  MeasureKind kind = MeasureKind::count;
  SampleQuantity quantity = SampleQuantity::count;
  TimeBase time;                // of times
  std::vector<Sample> samples;  // in the order of inferences, each once
  bool of_run = false;          // one number for all inferences of a run that has several
  // Of those that runs are judged by: the number of the profile that it is.
  std::string source = {};
  bool derived = false;  // worked out from another one of those
  bool repeats = false;  // no measurement: the same program gives the same number again
  Meaning meaning = {};  // of a number of the profile
};

// One number of each group of ops, by inference.
struct OpSamples {
  std::string name;
  MeasureKind kind = MeasureKind::work;
  SampleQuantity quantity = SampleQuantity::time;
  TimeBase time;
  std::vector<std::uint32_t> inferences;  // that have any
  std::vector<std::uint32_t> first;       // of each group in `entries`; one more
  std::vector<Sample> entries;            // those of a group together; an inference once
  double total() const;
};

// Ops of one model node (or name) and kernel.
struct OpGroup {
  std::string_view label;  // node, else name
  std::string_view kind;
  std::string_view shape;  // of the first that has one
  std::uint32_t ops = 0;   // 0: of the last group, which is of spans without an op
  // What it is called in every compile of the model; empty: its label says it.
  std::string_view identity = {};
};

// What the rules of `diagnose` say of a run, by their names.
struct RunFindings {
  struct Found {
    std::string rule;
    std::string weight;  // "high"
  };
  struct Untried {
    std::string rule;
    std::string missing;  // "bytes of transfers"
  };
  std::vector<Found> found;
  std::vector<std::string> quiet;  // tried, and nothing found
  std::vector<Untried> untried;
};

// What a profile held, for those who choose among several.
struct ProfileContent {
  std::uint64_t ops = 0, edges = 0;
  bool has_spans = false;
  bool is_one_inference = false;  // all spans are of one
  bool is_of_calls = false;       // of calls, not of ops: a latency file, a log
};

// Texts are of `strings`, or of the profile that the numbers were made of.
struct RunNumbers {
  StringPool strings;
  std::vector<Metric> metrics;
  std::vector<Metric> call;        // what runs are judged by
  std::uint64_t metrics_left = 0;  // that the profile has beyond these
  std::vector<std::uint32_t> inferences;
  bool is_estimated = false;                      // its times are a compiler's
  std::vector<OpGroup> groups;                    // the last one without name and ops
  std::vector<std::vector<std::uint32_t>> after;  // groups that each one feeds
  std::vector<OpSamples> columns;                 // the one that decides first
  RunFindings findings;
  ProfileContent content;
  std::vector<std::string> files;
  std::string selection;  // what it was cut down to; empty: nothing
};

}  // namespace npuscope
