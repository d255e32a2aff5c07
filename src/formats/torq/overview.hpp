// The Host Profile Overview: where the time of a run went, in nanoseconds.
//
//   ====================== Host Profile Overview =======================
//     Model: conv2d_f4_s4_64x64x16_i16
//     ────────────────────────────────────────────────────────
//     OVERALL                          12.845ms
//     Dma                             453.000µs  (3.53%)
//     …
//     Idle                              6.000µs  (0.05%)
//
// OVERALL is the first start to the last end of programs, host copies, host programs and HAL calls.
// Every other row is the length of a union of intervals, its share one of OVERALL. A program counts
// as a whole for every unit that it uses, because a run does not say when it used which: rows of
// units are upper bounds, and equal where programs use all of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/torq/annotate/annotate.hpp"
#include "formats/torq/debug/debug_info.hpp"
#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::torq {

// What ran when, and how long what ran at once: all that an overview says, from one pass.
//
//   RunTimes times({{{0, 4}, doing(Doing::hal)}, {{2, 6}, doing(Doing::host)}});
//   times.length([](std::uint32_t d) { return is(d, Doing::hal) && !is(d, Doing::host); })    // 2

// Bits after those of the units (NpuUnit).
// Host pending: programs of the host as the vendor's tools follow them, one at a time.
enum class Doing : std::uint32_t {
  program = npu_unit_count,
  hal,
  host,
  host_copy,
  host_pending,
  seen,
};
inline constexpr std::size_t doing_bits = std::size_t(Doing::seen) + 1;

constexpr std::uint32_t doing(Doing what) { return 1u << std::uint32_t(what); }
constexpr std::uint32_t doing(NpuUnit unit) { return 1u << std::uint32_t(unit); }
constexpr std::uint32_t doing(const UnitUse& uses) {
  std::uint32_t bits = 0;
  for (std::size_t unit = 0; unit < npu_unit_count; ++unit)
    bits |= std::uint32_t(uses[unit]) << unit;
  return bits;
}

struct RunPart {
  Interval at;              // nanoseconds
  std::uint32_t doing = 0;  // bits
};

class RunTimes {
 public:
  explicit RunTimes(std::vector<RunPart> parts);

  // Of the time in which what is done at once fits.
  template <class Fits>
  std::int64_t length(const Fits& fits) const {
    std::int64_t sum = 0;
    for (std::uint32_t bits = 0; bits < time_doing_.size(); ++bits) {
      if (time_doing_[bits] > 0 && fits(bits)) sum = saturating_add(sum, time_doing_[bits]);
    }
    return sum;
  }
  // First to last time in which what is done at once fits; none where none does.
  template <class Fits>
  std::optional<Interval> extent(const Fits& fits) const {
    std::optional<Interval> all;
    for (std::uint32_t bits = 0; bits < time_doing_.size(); ++bits) {
      if (time_doing_[bits] == 0 || !fits(bits)) continue;
      if (!all) all = extent_[bits];
      all = {std::min(all->begin, extent_[bits].begin), std::max(all->end, extent_[bits].end)};
    }
    return all;
  }

 private:
  struct Ending {
    std::int64_t end = 0;
    std::uint32_t doing = 0;
    bool operator>(const Ending& other) const { return end > other.end; }
  };
  void pass_until(std::int64_t time);
  void end_until(std::int64_t time);

  // By the bits of what is done at once.
  std::array<std::int64_t, std::size_t{1} << doing_bits> time_doing_{};
  std::array<Interval, std::size_t{1} << doing_bits> extent_{};
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
  std::array<std::uint32_t, doing_bits> open_{};  // parts that do it
  std::uint32_t now_doing_ = 0;
  std::int64_t now_ = 0;
};

// What ran when. A program does what it is and uses each of its units.
struct RunIntervals {
  std::vector<RunPart> parts;
  bool use_known = true;       // which units a program uses
  bool pending_known = false;  // Doing::host_pending of programs of the host
  // Also of what has only one of them: from and to where the vendor's OVERALL reaches.
  std::optional<std::int64_t> first_begin{}, last_end{};
  // When dispatches ran of which there is debug information, where some have none.
  std::optional<IntervalSet> seen{};

  void add(Interval at, std::uint32_t doing) { parts.push_back({at, doing}); }
};

enum class OverviewMetric : std::uint8_t {
  dma_union,  // DMA and CDMA
  dma,        // DMA in and out
  dma_in,
  dma_out,
  dma_only,
  cdma,
  compute,
  compute_only,
  slice,
  slice_0,
  slice_1,
  css,
  overlap,
  hal,
  host,
  host_pending,
  host_copy,
  programs,
  idle,
  npu_operations,
  overall,
};
inline constexpr std::size_t overview_metric_count = 21;
const char* meaning_of(OverviewMetric metric);  // a sentence

struct Overview {
  std::string model;
  std::array<std::optional<std::int64_t>, overview_metric_count> nanoseconds{};  // none: not known
  std::optional<std::string> wall_time{};  // the text of wall_time.txt
  std::string coverage{};                  // what of the run it is of; empty: all
  std::string scope{};                     // of which inferences; empty: of one, or not known
  std::vector<Note> notes{};

  std::optional<std::int64_t> of(OverviewMetric metric) const {
    return nanoseconds[std::size_t(metric)];
  }
};

// Whose reckoning. The vendor's counts what has only a begin or only an end towards OVERALL, and
// has a row of HAL also where there was none. Of programs of the host that run at once it knows the
// one that was started last, until the first wait: where that makes a difference, host_pending says
// what it counts, and host what they took.
enum class OverviewRules : std::uint8_t { own, vendor };

RunIntervals run_intervals(const Annotation& annotation);
// Of a log without debug information: which units a program used is not known.
RunIntervals run_intervals(const Profile& log_profile);
Overview make_overview(RunIntervals run, OverviewRules rules = OverviewRules::own);
// With what of the run the debug information covers.
Overview overview_of(const Annotation& annotation, OverviewRules rules = OverviewRules::own);

// From the text of an annotated table; rows that are none are counted in the notes.
Result<Overview> read_annotated_overview(ByteSource& source,
                                         OverviewRules rules = OverviewRules::own);
// From the slices of a trace's overview tracks, the vendor's or npuscope's.
Result<Overview> read_trace_overview(const Profile& trace,
                                     OverviewRules rules = OverviewRules::own);

// "add" of "test_x[add].pb", else the name without its ending.
std::string model_name(const std::string& file);

// Which rows, in which order, and what "Dma" and "Dma Total" mean.
enum class OverviewStyle : std::uint8_t {
  documented,  // of the vendor's documentation: Dma is the union with CDMA, Dma Total is DMA
  metrics,     // of v2.0.0: the other way round, with more rows
  scrape,      // of its fallback, which reads them out of a trace and loses the slices
};

struct OverviewRow {
  std::string label;  // "Dma Only"
  OverviewMetric metric{};
};
// Those that the overview has.
std::vector<OverviewRow> rows_of(const Overview& overview, OverviewStyle style);

// "12.845ms", "453.000µs", "0ns".
std::string duration_text(std::int64_t nanoseconds);
// Its share of OVERALL, 0 where that is 0.
double percent_of_overall(const Overview& overview, OverviewMetric metric);
std::string print_overview(std::span<const Overview> overviews, OverviewStyle style);

}  // namespace npuscope::torq
