// When each op ran in one inference, how long, and since when its unit could have run it.
//
//   const OpTimes times = analysis.op_times();
//   times.begin[op], times.end[op]   // first start, last end of its work
//   times.free_since[op]             // its unit had nothing else to do from then until begin[op]
//
// Of several inferences it is the one whose length is the median of those after the first, so that
// all times belong to each other. Waits are no work: a unit that waits is free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/profile.hpp"
#include "profile/self_times.hpp"

namespace npuscope::analysis {

// How often each op ran, and how much of its time is the issue of a transfer that runs meanwhile:
//
//   OpRuns::Units units;
//   OpRuns runs(profile, units);
//   runs.begin(op);
//   for (… spans of the op …) runs.add(kind, inference, unit, interval);
//   runs.finish(lengths)                 // 1: four threads at once, or an issue and its transfer,
//                                        // are one run; how long it took is appended
//   analysis.issues_beside().of(row)     // of a DMA op's 2 ticks on its thread, those in which its
//                                        // transfer ran: 2
//
// A run of a compiled op is one execution of it in one inference, as the vendor's summary counts:
// as many as the unit with most of its spans has, and one where all its spans are tiles of one
// execution (Op::once_per_inference): six tiles on four threads are one run. Slices of other traces
// are a run each, and asynchronous ones too, unless the op is compiled: beside its work they only
// say it once more.

// Whether it is a piece of a compiled op's execution.
inline bool is_compiled(SpanKind kind) {
  return kind == SpanKind::op || kind == SpanKind::transfer;
}

// What of each span lies beside a transfer of its own op.
class IssuesBeside {
 public:
  // `own` as of Analysis::self_times().
  IssuesBeside(const Profile& profile, const SelfTimes& own);

  std::int64_t of(std::size_t row) const { return beside_.empty() ? 0 : beside_[row]; }
  bool any() const { return !beside_.empty(); }

 private:
  std::vector<std::int64_t> beside_;  // by span; empty when all are zero
};

// The runs of one op after another, so that the next needs no memory of its own.
class OpRuns {
 public:
  // What of an inference's pieces were on one unit.
  struct OfUnit {
    std::uint32_t pieces = 0;
    std::int64_t last_begin = 0;
  };
  // By unit, the last of none that exists; no pieces between two inferences. A profile may have
  // many: whoever counts the runs of one row after another keeps it for all.
  using Units = std::vector<OfUnit>;

  OpRuns(const Profile& profile, Units& units) : profile_(profile), of_unit_(units) {
    of_unit_.resize(profile.units.size() + 1);
  }

  // OpId::none (and any op that does not exist): of spans without an op each is a run.
  void begin(OpId op);
  // What is no part of a run (waits) is left out.
  void add(SpanKind kind, std::uint32_t inference, UnitId unit, Interval interval);
  // Appends the length of each run, from its first start to its last end on all units; how many
  // there are.
  std::size_t finish(std::vector<std::int64_t>& lengths);

 private:
  // A span of a run that may have others on other threads.
  struct Piece {
    std::uint32_t inference, unit;
    Interval interval;
  };
  using Pieces = std::span<Piece>;

  static Pieces next_inference(Pieces& pieces, std::uint32_t inference);
  void join_kernels(Pieces pieces, bool all_of_one);
  bool join_as_they_come(Pieces pieces, bool all_of_one);
  void join_transfers(Pieces transfers);
  OfUnit& of_unit(const Piece& piece) {
    return of_unit_[std::min<std::size_t>(piece.unit, of_unit_.size() - 1)];
  }

  const Profile& profile_;
  Units& of_unit_;
  OpId op_ = OpId::none;
  std::vector<Piece> kernels_, transfers_;
  std::vector<std::int64_t> others_, asynchronous_;  // lengths
  std::vector<Interval> runs_;                       // of an inference
};

struct OpTimes {
  bool known = false;            // whether any op ran
  std::uint32_t inferences = 0;  // how many there are; 0: the trace does not say
  std::uint32_t inference = 0;   // the one that these times are of
  // By op; work is -1 for one that did not run.
  std::vector<std::int64_t> begin, end, free_since;
  std::vector<std::int64_t> work;  // sum over its spans, on all units
  std::vector<UnitId> unit;        // of its first span
  // By op: whether the trace has any span of it, a wait included; frames_alone: nothing but frames
  // of what ran, sessions and steps.
  std::vector<std::uint8_t> seen;
  static constexpr std::uint8_t frames_alone = 1;
  std::int64_t total_work = 0;

  bool ran(OpId op) const { return work[index_of(op)] >= 0; }
};

}  // namespace npuscope::analysis
