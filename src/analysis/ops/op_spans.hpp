// The spans of a profile in groups, as questions about ops ask for them:
//
//   const auto by_op = analysis.spans_by_op();
//   for (const KeptOpSpan& kept : by_op->of(op)) …    // of one op, in the profile's order
//   for (const KeptOpSpan& kept : by_op->of(ops)) …   // the last group: of none that exists
//   by_op->unpack(kept, span);
//   span.own                                          // its self time
//   by_op->interval(kept)                             // when it ran
//
// The profile has what is asked of a span as many columns apart, and the spans of an op far from
// one another: gathered once, all questions have them close.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/inference_times.hpp"
#include "npuscope/profile/column.hpp"
#include "profile/self_times.hpp"

namespace npuscope::analysis {

struct OpSpan {
  std::int64_t own;   // its self time
  std::uint32_t row;  // in the profile
  OpId op;
  UnitId unit;
  std::uint32_t inference;  // its place among Inferences
  std::uint32_t slot;       // its place among RowSums::inferences, where it is summed
  SpanKind kind;
};

// The same as it is kept, as small as may be: millions of them are written and read once. What does
// not fit, as a span of more than 2^32 ticks, is looked up in the profile.
struct KeptOpSpan {  // without values at first, for the sake of Column
  static constexpr std::uint32_t does_not_fit = ~std::uint32_t{0};
  static constexpr std::uint32_t no_inference = (std::uint32_t{1} << 24) - 1;

  std::uint32_t begin;  // since that of the timeline
  std::uint32_t length;
  std::uint32_t row;
  OpId op;
  UnitId unit;
  std::uint32_t inference_and_kind;  // the latter in the low 8 bits

  std::uint32_t inference() const {
    const std::uint32_t number = inference_and_kind >> 8;
    return number == no_inference ? Inferences::none : number;
  }
  SpanKind kind() const { return SpanKind(inference_and_kind & 0xff); }
};

class OpSpansInGroups {
 public:
  // By op; the last group has those of no op that exists.
  explicit OpSpansInGroups(const Analysis& analysis);
  // By a group of each unit; the last is that of units that do not exist.
  OpSpansInGroups(const Analysis& analysis, const std::vector<std::uint32_t>& group_of_unit,
                  std::size_t groups);

  std::span<const KeptOpSpan> of(std::size_t group) const {
    return std::span(sorted_).subspan(first_[group], first_[group + 1] - first_[group]);
  }
  Interval interval(const KeptOpSpan& kept) const {
    if (kept.begin == KeptOpSpan::does_not_fit || kept.length == KeptOpSpan::does_not_fit) {
      return interval_of(profile_.spans, kept.row);
    }
    return {origin_ + kept.begin, origin_ + kept.begin + kept.length};
  }
  std::int64_t own(const KeptOpSpan& kept) const {
    if (own_.are_whole()) return whole_time(kept.kind(), interval(kept));
    const std::uint32_t own = kept_own_[std::size_t(&kept - sorted_.data())];
    return own != KeptOpSpan::does_not_fit ? own : own_[kept.row];
  }
  void unpack(const KeptOpSpan& kept, OpSpan& into) const;
  // Tells its inference from all others, also where those are too many for Inferences.
  std::uint32_t instance(const KeptOpSpan& kept) const {
    if (inferences_.count() > 1) return kept.inference();
    return profile_.spans.instance.empty() ? 0 : profile_.spans.instance[kept.row];
  }

 private:
  template <class GroupOf>
  void sort(std::size_t groups, const GroupOf& group_of);
  void keep(std::size_t row, std::uint32_t place);

  const Profile& profile_;
  const SelfTimes& own_;
  const Inferences& inferences_;
  std::vector<std::uint32_t> first_;  // of each group in sorted_; one more
  std::int64_t origin_;
  Column<KeptOpSpan> sorted_;
  Column<std::uint32_t> kept_own_;  // of each; empty where they are whole
};

inline void OpSpansInGroups::unpack(const KeptOpSpan& kept, OpSpan& into) const {
  into.own = own(kept);
  into.row = kept.row;
  into.op = kept.op;
  into.unit = kept.unit;
  into.inference = kept.inference();
  into.kind = kept.kind();
}

}  // namespace npuscope::analysis
