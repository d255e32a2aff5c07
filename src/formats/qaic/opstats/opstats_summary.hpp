// The vendor's statistics summary (.qaic-opstats.summary.txt): a table of operator kinds per core,
// then threads, ports and rates. Layout, with its printf formats: docs/formats/opstats.md.
//
//   OpstatsSummary summary = summarise(profile);          // a profile from stats_decoder.hpp
//   std::string text = print_summary(summary);            // the vendor's form, byte for byte
//   Result<OpstatsSummary> again = parse_summary(text, "name");
//
//   core  ucycles  ucycles(%)     pcycles  pcycles(%)  count      out KB  …  opdetails
//   c0     244552      55.00%    15612581      54.67%   1081   525124.00  …  aicconvolutiond32 HMX
//   …
//
// ucycles are ticks of the 19.2 MHz timer, pcycles processor cycles. The struct holds what was
// counted; every figure that follows from it (percentages, per KB, totals, rates) is computed when
// it is asked for, so text and JSON cannot disagree. Rows of different engines overlap in time:
// the percentages of a core do not add up to 100.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/qaic/text/latency.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::qaic {

// All ops of one (kind, group, memory, types) of a core, or all waits of a group. The value of an
// op that several threads run together (HVX) is that of the slowest thread; ucycles of an op with
// an asynchronous transfer are the transfer's where that is longer, pcycles only those to issue it.
struct OpstatsRow {
  enum class Type : std::uint8_t { op, sync, barrier };
  Type type = Type::op;
  std::string kind;    // kernel, e.g. aicconvolutiond32; empty for waits
  std::string group;   // HVX, HMX, DMAIssue
  std::string memory;  // TCM, DDR; empty for waits
  std::string types;   // "float16, i8"
  std::uint64_t ucycles = 0;
  std::uint64_t pcycles = 0;
  std::uint64_t count = 0;         // ops, or waits executed
  double output_kilobytes = 0;     // of 1024 bytes
  double stddev_per_kilobyte = 0;  // population standard deviation of the ops' pcycles per KB

  std::optional<double> ucycles_per_kilobyte() const;  // none without output, or for waits
  std::optional<double> pcycles_per_kilobyte() const;
  std::string details() const;  // the last column
};

struct OpstatsThread {
  std::uint32_t thread = 0;
  std::string group;
  std::uint64_t begin = 0;  // absolute ticks
  std::uint64_t end = 0;
  std::uint64_t ucycles = 0;
  std::uint64_t pcycles = 0;
  std::optional<double> utilization;  // percent: pcycles of its ops / pcycles; none without ops
};

struct OpstatsBatch {
  std::uint32_t thread = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t ucycles = 0;
  std::uint64_t pcycles = 0;
};

struct OpstatsPort {
  std::uint32_t thread = 0;
  std::uint32_t port = 0;     // 100 host input, 101 host output
  std::uint64_t ucycles = 0;  // waited for
};

struct OpstatsActivation {
  std::uint32_t thread = 0;
  std::uint64_t ucycles = 0;
};

// npuscope's own lines; the vendor's form of these is not public.
struct OpstatsPmu {
  std::uint32_t thread = 0;
  std::uint32_t event = 0;
  std::uint64_t count = 0;
};
// Of an event that counts cycles in which an engine works: by the cycles of the core's threads of
// that engine, what the recipe KernelUtil stands for.
struct OpstatsPmuUse {
  std::uint32_t event = 0;
  std::uint64_t count = 0;
  std::uint64_t pcycles = 0;
};
struct OpstatsDdr {
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
};

struct OpstatsCore {
  std::uint32_t core = 0;
  std::vector<OpstatsRow> rows;  // by ucycles, largest first
  std::vector<OpstatsThread> threads;
  std::vector<OpstatsBatch> batches;
  std::uint64_t inference_pcycles = 0;  // first thread's start to last thread's end
  std::vector<OpstatsPort> ports;
  std::vector<OpstatsActivation> activations;
  std::vector<OpstatsPmu> pmu;
  std::optional<OpstatsDdr> ddr;

  std::uint64_t ucycles() const;  // largest of the threads
  std::uint64_t pcycles() const;
  double effective_megahertz(Hertz utimer) const;
  std::vector<OpstatsPmuUse> pmu_use() const;  // in the table's order
};

struct OpstatsSummary {
  std::string network;
  std::uint32_t batch_size = 1;  // inferences per batch (-stats-batchsize)
  Hertz utimer = aic_utimer;
  std::vector<OpstatsCore> cores;
  // What the host measured of the inference (latency.hpp), in summaries that a runner writes;
  // npuscope's own lines.
  std::vector<HostTime> host;
  std::vector<std::string> unread;  // lines of a parsed text that say something unknown

  std::uint64_t begin() const;  // of the batches of all cores
  std::uint64_t end() const;
  std::uint64_t ucycles() const { return end() - begin(); }
  double seconds() const;
  double batches_per_second() const;  // of one instance of the network; 0 when it took no time
  double inferences_per_second() const;
  std::optional<std::uint64_t> longest_wait(std::uint32_t port) const;
};

// Of a profile of one inference.
OpstatsSummary summarise(const Profile& profile);

std::string print_summary(const OpstatsSummary& summary);

// Input errors name the line. Reads what print_summary and qaic-opstats print; figures that follow
// from others are not taken from the text, and lines of another form are kept in `unread`. With
// `broken`, broken lines are noted there and left out instead.
Result<OpstatsSummary> parse_summary(std::string_view text, std::string_view name,
                                     std::vector<Note>* broken = nullptr);

}  // namespace npuscope::qaic
