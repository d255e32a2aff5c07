// How often each op ran, and how much of its time is the issue of a transfer that runs meanwhile:
//
//   OpRuns(profile).of(op)               // 1: four threads at once, or an issue and its transfer,
//                                        // are one run
//   IssuesBeside(profile, own).of(row)   // of a DMA op's 2 ticks on its thread, those in which its
//                                        // transfer ran: 2
//
// A run of a compiled op is one execution of it in one inference, as the vendor's summary counts:
// as many as the unit with most of its spans has, and one where all its spans are tiles of one
// execution (Op::once_per_inference): six tiles on four threads are one run. Slices of other traces
// are a run each, and asynchronous ones too, unless the op is compiled: beside its work they only
// say it once more.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

// Whether it is a piece of a compiled op's execution.
inline bool is_compiled(SpanKind kind) {
  return kind == SpanKind::op || kind == SpanKind::transfer;
}

// Appends the length of each run among these spans of one op to `lengths`; those that are no part
// of a run (waits) must not be among them. How many there are.
std::size_t add_run_lengths(const Profile& profile, std::span<const std::uint32_t> rows,
                            std::vector<std::int64_t>& lengths);

// What of each span lies beside a transfer of its own op.
class IssuesBeside {
 public:
  // `own` as of Analysis::self_times().
  IssuesBeside(const Profile& profile, const std::vector<std::int64_t>& own);

  std::int64_t of(std::size_t row) const { return beside_.empty() ? 0 : beside_[row]; }
  bool any() const { return !beside_.empty(); }

 private:
  std::vector<std::int64_t> beside_;  // by span; empty when all are zero
};

class OpRuns {
 public:
  using Counts = std::function<bool(std::uint32_t row)>;

  // `keep_lengths`: so that lengths() has any. Spans that do not count are left out; none: all do.
  explicit OpRuns(const Profile& profile, bool keep_lengths = false, const Counts& counts = {});

  // OpId::none (and any op that does not exist): spans without an op, each a run.
  std::uint64_t of(OpId op) const;

  // Of each run, from its first start to its last end on all units; as many as of(op).
  std::span<const std::int64_t> lengths(OpId op) const;

 private:
  std::vector<std::uint64_t> runs_;   // by op; one more for spans without
  std::vector<std::uint32_t> first_;  // of each op in lengths_
  std::vector<std::int64_t> lengths_;
};

}  // namespace npuscope::analysis
