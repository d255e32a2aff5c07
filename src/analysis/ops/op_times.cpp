#include "analysis/ops/op_times.hpp"

#include <limits>
#include <optional>
#include <utility>

#include "analysis/answers.hpp"
#include "analysis/inference_times.hpp"
#include "base/counting_sort.hpp"
#include "base/parallel.hpp"
#include "base/sort_rows.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "npuscope/profile/column.hpp"

namespace npuscope::analysis {
namespace {

bool is_run(SpanKind kind) { return role_of(kind) == Role::work || kind == SpanKind::async; }

// How much of a set lies before a moment.
class Covered {
 public:
  explicit Covered(std::vector<Interval> intervals) : set_(union_of(std::move(intervals))) {
    std::int64_t sum = 0;
    for (const Interval& interval : set_) {
      before_.push_back(sum);
      sum = saturating_add(sum, length_of(interval));
    }
  }

  std::int64_t within(Interval window) const {
    return saturating_subtract(until(window.end), until(window.begin));
  }

 private:
  std::int64_t until(std::int64_t moment) const {
    const auto after =
        std::upper_bound(set_.begin(), set_.end(), moment,
                         [](std::int64_t at, const Interval& each) { return at < each.begin; });
    if (after == set_.begin()) return 0;
    const auto last = std::size_t(after - set_.begin()) - 1;
    return saturating_add(before_[last],
                          length_of({set_[last].begin, std::min(moment, set_[last].end)}));
  }

  IntervalSet set_;
  std::vector<std::int64_t> before_;
};

}  // namespace

void OpRuns::begin(OpId op) {
  op_ = op;
  kernels_.clear();
  transfers_.clear();
  others_.clear();
  asynchronous_.clear();
}

void OpRuns::add(SpanKind kind, std::uint32_t inference, UnitId unit, Interval interval) {
  if (!is_run(kind)) return;
  const Piece piece{inference, index_of(unit), interval};
  if (index_of(op_) >= profile_.ops.size()) {
    others_.push_back(length_of(interval));
  } else if (kind == SpanKind::op) {
    kernels_.push_back(piece);
  } else if (kind == SpanKind::transfer) {
    transfers_.push_back(piece);
  } else {
    (kind == SpanKind::async ? asynchronous_ : others_).push_back(length_of(interval));
  }
}

// The n-th piece on every unit is of the n-th run of the inference, unless all are tiles of one
// run.
void OpRuns::join_kernels(Pieces pieces, bool all_of_one) {
  if (pieces.size() == 1) {
    runs_.assign(1, pieces.front().interval);
    return;
  }
  if (join_as_they_come(pieces, all_of_one)) return;
  sort_rows(pieces, {}, [](const Piece& piece) { return piece.interval.begin; });
  join_as_they_come(pieces, all_of_one);
}

// Whether those of each unit came by their begins, as nearly always.
bool OpRuns::join_as_they_come(Pieces pieces, bool all_of_one) {
  runs_.clear();
  bool in_order = true;
  for (const Piece& piece : pieces) {
    OfUnit& unit = of_unit(piece);
    in_order = in_order && (unit.pieces == 0 || unit.last_begin <= piece.interval.begin);
    unit.last_begin = piece.interval.begin;
    const std::size_t place = all_of_one ? 0 : unit.pieces;
    unit.pieces += 1;
    if (place == runs_.size()) {
      runs_.push_back(piece.interval);
    } else {
      extend_by(runs_[place], piece.interval);
    }
  }
  for (const Piece& piece : pieces) of_unit(piece).pieces = 0;
  return in_order || all_of_one;
}

// A transfer is of the last run that began before it.
void OpRuns::join_transfers(Pieces transfers) {
  for (const Piece& transfer : transfers) {
    const auto after =
        std::upper_bound(runs_.begin(), runs_.end(), transfer.interval.begin,
                         [](std::int64_t at, const Interval& run) { return at < run.begin; });
    extend_by(after == runs_.begin() ? runs_.front() : after[-1], transfer.interval);
  }
}

// The pieces of the inference that the first one is of; takes them from the front.
OpRuns::Pieces OpRuns::next_inference(Pieces& pieces, std::uint32_t inference) {
  std::size_t count = 0;
  while (count < pieces.size() && pieces[count].inference == inference) ++count;
  const Pieces these = pieces.first(count);
  pieces = pieces.subspan(count);
  return these;
}

std::size_t OpRuns::finish(std::vector<std::int64_t>& lengths) {
  const std::size_t before = lengths.size();
  lengths.insert(lengths.end(), others_.begin(), others_.end());
  // Next to a compiled op's work, asynchronous spans only say it once more.
  if (kernels_.empty() && transfers_.empty()) {
    lengths.insert(lengths.end(), asynchronous_.begin(), asynchronous_.end());
    return lengths.size() - before;
  }
  const bool once = profile_.ops[index_of(op_)].once_per_inference;
  // A transfer is the rest of its op's run, and a run itself where the issue is not in the trace.
  if (kernels_.empty()) kernels_.swap(transfers_);
  for (auto* pieces : {&kernels_, &transfers_}) {
    if (!std::ranges::is_sorted(*pieces, {}, &Piece::inference)) {
      sort_rows(*pieces, {}, &Piece::inference);
    }
  }
  Pieces kernels_left(kernels_), transfers_left(transfers_);
  while (!kernels_left.empty()) {
    const std::uint32_t inference = kernels_left.front().inference;
    join_kernels(next_inference(kernels_left, inference), once);
    while (!transfers_left.empty() && transfers_left.front().inference < inference) {
      transfers_left = transfers_left.subspan(1);
    }
    join_transfers(next_inference(transfers_left, inference));
    for (const Interval& run : runs_) lengths.push_back(length_of(run));
  }
  return lengths.size() - before;
}

namespace {

// Of one op; whether any is.
bool find_beside(const Spans& spans, std::span<const std::uint32_t> rows, const SelfTimes& own,
                 std::vector<std::int64_t>& beside) {
  std::vector<Interval> transfers;
  for (const std::uint32_t row : rows) {
    if (spans.kind[row] == SpanKind::transfer) transfers.push_back(interval_of(spans, row));
  }
  const Covered covered(std::move(transfers));
  bool any = false;
  for (const std::uint32_t row : rows) {
    if (spans.kind[row] != SpanKind::op) continue;
    beside[row] = std::min(own[row], covered.within(interval_of(spans, row)));
    any = any || beside[row] > 0;
  }
  return any;
}

}  // namespace

IssuesBeside::IssuesBeside(const Profile& profile, const SelfTimes& own) {
  const Spans& spans = profile.spans;
  std::vector<std::uint8_t> transfers(profile.ops.size() + 1, false);
  bool any = false;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::size_t op = index_of(spans.op[row]);
    if (spans.kind[row] != SpanKind::transfer || op >= profile.ops.size()) continue;
    transfers[op] = true;
    any = true;
  }
  if (!any) return;
  const Grouped<Column<std::uint32_t>> by_op(spans.size(), transfers.size(), [&](std::size_t row) {
    const auto op = std::min(index_of(spans.op[row]), std::uint32_t(profile.ops.size()));
    return is_run(spans.kind[row]) && transfers[op] != 0 ? op : counting_sort_leaves_out;
  });
  beside_.assign(spans.size(), 0);
  std::vector<std::uint8_t> found(profile.ops.size(), false);
  parallel_for(found.size(), [&](std::size_t op) {
    if (transfers[op] != 0) found[op] = find_beside(spans, by_op.of(op), own, beside_);
  });
  if (std::find(found.begin(), found.end(), true) == found.end()) beside_.clear();
}

namespace {

constexpr std::int64_t earliest = std::numeric_limits<std::int64_t>::min();

class Times {
 public:
  explicit Times(const Analysis& analysis)
      : profile_(analysis.profile()),
        spans_(profile_.spans),
        analysis_(analysis),
        self_times_(analysis.self_times()) {}

  OpTimes find() {
    const std::size_t ops = profile_.ops.size();
    times_.begin.assign(ops, 0);
    times_.end.assign(ops, 0);
    times_.free_since.assign(ops, earliest);
    times_.work.assign(ops, -1);
    times_.unit.assign(ops, UnitId::none);
    times_.seen.assign(ops, 0);
    for (std::size_t row = 0; row < spans_.size(); ++row) {
      const std::size_t op = index_of(spans_.op[row]);
      const bool is_frame = role_of(spans_.kind[row]) == Role::frame;
      if (op < ops) times_.seen[op] |= is_frame ? OpTimes::frames_alone : std::uint8_t(2);
    }
    choose();
    const IssuesBeside& issues = analysis_.issues_beside();
    if (chosen_) {
      walk(SpansByUnit(profile_, rows_of_chosen()), issues);
    } else {
      walk(analysis_.spans_by_unit(), issues);
    }
    return std::move(times_);
  }

 private:
  // The inference whose length is the median of those after the first.
  void choose() {
    std::vector<InferenceExtent> inferences;
    std::ranges::copy_if(analysis_.extents().inferences, std::back_inserter(inferences),
                         &InferenceExtent::works);
    times_.inferences = std::uint32_t(inferences.size());
    if (inferences.empty()) return;
    if (inferences.size() > 1) inferences.erase(inferences.begin());
    const auto middle = inferences.begin() + std::ptrdiff_t((inferences.size() - 1) / 2);
    std::nth_element(inferences.begin(), middle, inferences.end(),
                     [](const InferenceExtent& a, const InferenceExtent& b) {
                       const auto length = [](const Interval& extent) {
                         return saturating_subtract(extent.end, extent.begin);
                       };
                       return std::pair(length(a.work), a.number) <
                              std::pair(length(b.work), b.number);
                     });
    chosen_ = *middle;
    times_.inference = middle->number;
  }

  std::vector<std::uint32_t> rows_of_chosen() const {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = chosen_->first_row; row < chosen_->rows_end; ++row) {
      if (spans_.instance[row] == chosen_->number) rows.push_back(row);
    }
    return rows;
  }

  void walk(const SpansByUnit& by_unit, const IssuesBeside& issues) {
    for (std::uint32_t unit = 0; unit < profile_.units.size(); ++unit) {
      walk_unit(UnitId(unit), by_unit.spans_of(UnitId(unit)), issues);
    }
    walk_unit(UnitId::none, by_unit.spans_of(UnitId::none), issues);
  }

  // The rows of a unit come by their start.
  void walk_unit(UnitId unit, SpansOfUnit spans, const IssuesBeside& issues) {
    std::int64_t busy_until = earliest;
    for (const SpanOfUnit& span : spans) {
      const std::uint32_t row = span.row;
      if (role_of(span.kind) != Role::work) continue;
      const std::uint32_t op = index_of(span.op);
      const std::int64_t work = std::max<std::int64_t>(self_times_.of(span) - issues.of(row), 0);
      times_.total_work = saturating_add(times_.total_work, work);
      if (op < profile_.ops.size()) {
        const bool first = times_.work[op] < 0;
        if (first || span.begin < times_.begin[op]) {
          times_.begin[op] = span.begin;
          times_.free_since[op] = unit == UnitId::none ? span.begin : busy_until;
          times_.unit[op] = unit;
        }
        times_.end[op] = first ? span.end : std::max(times_.end[op], span.end);
        times_.work[op] = saturating_add(std::max<std::int64_t>(times_.work[op], 0), work);
        times_.known = true;
      }
      busy_until = std::max(busy_until, span.end);
    }
  }

  const Profile& profile_;
  const Spans& spans_;
  const Analysis& analysis_;
  const SelfTimes& self_times_;
  std::optional<InferenceExtent> chosen_;
  OpTimes times_;
};

}  // namespace

OpTimes find_op_times(const Analysis& analysis) { return Times(analysis).find(); }

}  // namespace npuscope::analysis
