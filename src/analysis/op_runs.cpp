#include "analysis/op_runs.hpp"

#include <algorithm>
#include <utility>

#include "npuscope/analysis/timeline.hpp"
#include "npuscope/base/parallel.hpp"

namespace npuscope::analysis {
namespace {

bool is_run(SpanKind kind) { return role_of(kind) == Role::work || kind == SpanKind::async; }

// The spans that are runs or parts of one, by their op (a counting sort); last those without.
struct RowsByOp {
  explicit RowsByOp(const Profile& profile) {
    const Spans& spans = profile.spans;
    const std::size_t ops = profile.ops.size();
    const auto place = [&](std::size_t row) {
      return std::min<std::size_t>(index_of(spans.op[row]), ops);
    };
    first.assign(ops + 2, 0);
    for (std::size_t row = 0; row < spans.size(); ++row) {
      if (is_run(spans.kind[row])) first[place(row) + 1] += 1;
    }
    for (std::size_t op = 0; op <= ops; ++op) first[op + 1] += first[op];
    rows.resize(first.back());
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (std::size_t row = 0; row < spans.size(); ++row) {
      if (is_run(spans.kind[row])) rows[next[place(row)]++] = std::uint32_t(row);
    }
  }

  std::span<const std::uint32_t> of(std::size_t op) const {
    return std::span(rows).subspan(first[op], first[op + 1] - first[op]);
  }

  std::vector<std::uint32_t> first, rows;
};

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

OpRuns::OpRuns(const Profile& profile, const std::vector<std::int64_t>& own) : profile_(profile) {
  const RowsByOp by_op(profile);
  const std::size_t ops = profile.ops.size();
  runs_.assign(ops + 1, 0);
  runs_[ops] = by_op.of(ops).size();
  const auto& kinds = profile.spans.kind;
  if (std::find(kinds.begin(), kinds.end(), SpanKind::transfer) != kinds.end()) {
    beside_.assign(profile.spans.size(), 0);
  }
  std::vector<std::uint8_t> found(ops, false);
  parallel_for(ops, [&](std::size_t op) {
    runs_[op] = runs_of(by_op.of(op));
    if (!beside_.empty()) found[op] = find_beside(by_op.of(op), own);
  });
  if (std::find(found.begin(), found.end(), true) == found.end()) beside_.clear();
}

std::uint64_t OpRuns::of(OpId op) const {
  return runs_[std::min<std::size_t>(index_of(op), runs_.size() - 1)];
}

std::uint64_t OpRuns::runs_of(std::span<const std::uint32_t> rows) const {
  const Spans& spans = profile_.spans;
  const bool any_kernel = std::any_of(
      rows.begin(), rows.end(), [&](std::uint32_t row) { return spans.kind[row] == SpanKind::op; });
  // A transfer is the rest of its op's run, and a run itself where the issue is not in the trace.
  const SpanKind run = any_kernel ? SpanKind::op : SpanKind::transfer;
  const bool has_instance = spans.instance.size() == spans.size();
  std::uint64_t runs = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places;  // inference and unit
  for (const std::uint32_t row : rows) {
    const SpanKind kind = spans.kind[row];
    if (kind == run) {
      places.push_back({has_instance ? spans.instance[row] : 0, index_of(spans.unit[row])});
    } else if (kind != SpanKind::transfer) {
      runs += 1;
    }
  }
  std::sort(places.begin(), places.end());
  std::uint64_t most = 0, here = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    here = i > 0 && places[i] == places[i - 1] ? here + 1 : 1;
    if (i > 0 && places[i].first != places[i - 1].first) {
      runs += most;
      most = 0;
    }
    most = std::max(most, here);
  }
  return runs + most;
}

bool OpRuns::find_beside(std::span<const std::uint32_t> rows,
                         const std::vector<std::int64_t>& own) {
  const Spans& spans = profile_.spans;
  std::vector<Interval> transfers;
  for (const std::uint32_t row : rows) {
    if (spans.kind[row] == SpanKind::transfer) transfers.push_back(interval_of(spans, row));
  }
  if (transfers.empty()) return false;
  const Covered covered(std::move(transfers));
  bool any = false;
  for (const std::uint32_t row : rows) {
    if (spans.kind[row] != SpanKind::op) continue;
    beside_[row] = std::min(own[row], covered.within(interval_of(spans, row)));
    any = any || beside_[row] > 0;
  }
  return any;
}

}  // namespace npuscope::analysis
