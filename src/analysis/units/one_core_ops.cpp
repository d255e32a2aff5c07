#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/answers.hpp"
#include "analysis/ops/op_keys.hpp"
#include "analysis/ops/op_spans.hpp"
#include "analysis/ops/op_times.hpp"
#include "analysis/ops/row_names.hpp"
#include "base/parallel.hpp"
#include "base/per_thread.hpp"
#include "base/sort_rows.hpp"
#include "npuscope/analysis/imbalance.hpp"

namespace npuscope::analysis {
namespace {

// Groups of ops whose work ran on one core, what they did, and kernels that ran on all cores.
class OneCoreWork {
 public:
  explicit OneCoreWork(const Analysis& analysis)
      : profile_(analysis.profile()), issues_(analysis.issues_beside()), cores_(profile_) {
    const std::function<void()> parts[] = {[&] { by_op_ = analysis.spans_by_op(); },
                                           [&] { keys_.emplace(profile_, OpOptions{}); }};
    parallel_for(std::size(parts), [&](std::size_t i) { parts[i](); });
    groups_.resize(keys_->count());
    look_at_ops();
  }

  const OpKeys& keys() const { return *keys_; }
  std::uint32_t core_count() const { return core_count_; }

  // Whether work of the group ran on one core alone.
  bool is_of_one(std::uint32_t group) const { return groups_[group].core < several; }
  std::string core_name(std::uint32_t group) const { return cores_.name(groups_[group].core); }
  double work(std::uint32_t group) const { return groups_[group].work; }
  // No less than its active time.
  double length(std::uint32_t group) const { return double(groups_[group].length); }
  // Whether the group has one kernel, which runs on as many cores as any do.
  bool kind_is_on_all(std::uint32_t group) const {
    const OpRow& row = keys_->rows()[group];
    return row.kinds == 1 && on_all_[index_of(row.kind)];
  }

  // By group; zero for those that are not asked for.
  std::vector<double> active_times(const std::vector<std::uint8_t>& asked) const;

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0}, several = none - 1;

  // What spans of work did.
  struct Work {
    std::uint32_t core = none;
    double work = 0;
    std::int64_t length = 0;  // sum over its spans
    bool any = false;
    // In which any of it ran; not told of several ops, which may overlap, or on several cores.
    std::optional<std::int64_t> active;

    void note(std::uint32_t other) {
      if (other == none) return;
      core = core == none || core == other ? other : several;
    }
    void add(const Work& part) {
      if (!part.any) return;
      note(part.core);
      work += part.work;
      length = saturating_add(length, part.length);
      active = std::exchange(any, true) ? std::nullopt : part.active;
    }
  };
  struct WorkOfOp : Work {
    // Of NPUs, that worked on it; that have asynchronous spans of it.
    std::vector<std::uint32_t> cores, cores_of_asynchronous;
  };

  struct OfThread {
    std::vector<std::uint8_t> ran;  // by core; all 0 between two ops
    std::vector<Interval> runs;
  };

  void look_at_ops();
  WorkOfOp look_at(std::span<const KeptOpSpan> spans, OfThread& kept) const;
  void find_kinds_on_all(const std::vector<WorkOfOp>& ops);

  const Profile& profile_;
  const IssuesBeside& issues_;
  CoreNumbers cores_;
  std::shared_ptr<const OpSpansInGroups> by_op_;
  std::optional<OpKeys> keys_;
  std::vector<Work> groups_;
  std::uint32_t core_count_ = 0;
  std::vector<bool> on_all_;  // by text of the profile
};

// Of work on NPUs. A group that only other processors work on has no core.
OneCoreWork::WorkOfOp OneCoreWork::look_at(std::span<const KeptOpSpan> spans,
                                           OfThread& kept) const {
  enum : std::uint8_t { asynchronously = 1, with_work = 2 };
  std::vector<std::uint8_t>& ran = kept.ran;
  ran.resize(cores_.count());
  if (kept.runs.size() < spans.size()) kept.runs.resize(spans.size());
  std::size_t runs = 0;
  WorkOfOp of;
  for (const KeptOpSpan& span : spans) {
    const bool is_work = role_of(span.kind()) == Role::work;
    if (!is_work && span.kind() != SpanKind::async) continue;
    const std::uint32_t core = cores_.of(span.unit);
    if (is_work) {
      const Interval run = by_op_->interval(span);
      of.any = true;
      of.work += double(by_op_->own(span) - issues_.of(span.row));
      of.length = saturating_add(of.length, length_of(run));
      kept.runs[runs++] = run;
    }
    const std::uint8_t sort = is_work ? with_work : asynchronously;
    if ((ran[core] & sort) != 0 || !cores_.is_of_npu(core)) continue;
    ran[core] |= sort;
    (is_work ? of.cores : of.cores_of_asynchronous).push_back(core);
    if (is_work) of.note(core);
  }
  for (const std::uint32_t core : of.cores) ran[core] = 0;
  for (const std::uint32_t core : of.cores_of_asynchronous) ran[core] = 0;
  if (of.any && of.core < several) of.active = covered_length(std::span(kept.runs).first(runs));
  return of;
}

void OneCoreWork::look_at_ops() {
  std::vector<WorkOfOp> ops(profile_.ops.size() + 1);  // the last of none that exists
  PerThread<OfThread> of_thread;
  parallel_for(ops.size(),
               [&](std::size_t op) { ops[op] = look_at(by_op_->of(op), of_thread.mine()); });
  std::vector<std::uint8_t> ran(cores_.count(), false);
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    groups_[keys_->of(OpId(op))].add(ops[op]);
    for (const std::uint32_t core : ops[op].cores) ran[core] = true;
    for (const std::uint32_t core : ops[op].cores_of_asynchronous) ran[core] = true;
  }
  core_count_ = std::uint32_t(std::count(ran.begin(), ran.end(), true));
  find_kinds_on_all(ops);
}

void OneCoreWork::find_kinds_on_all(const std::vector<WorkOfOp>& ops) {
  std::vector<std::pair<StringId, std::uint32_t>> cores_of_kinds;
  for (std::size_t op = 0; op < profile_.ops.size(); ++op) {
    for (const std::uint32_t core : ops[op].cores) {
      cores_of_kinds.emplace_back(profile_.ops[op].kind, core);
    }
  }
  std::sort(cores_of_kinds.begin(), cores_of_kinds.end());
  const auto end = std::unique(cores_of_kinds.begin(), cores_of_kinds.end());
  on_all_.assign(profile_.strings.size(), false);
  for (auto first = cores_of_kinds.begin(); first != end;) {
    auto last = first;
    while (last != end && last->first == first->first) ++last;
    on_all_[index_of(first->first)] =
        first->first != StringId::empty && last - first == core_count_;
    first = last;
  }
}

std::vector<double> OneCoreWork::active_times(const std::vector<std::uint8_t>& asked) const {
  std::vector<std::vector<std::uint32_t>> ops(keys_->count());
  for (std::uint32_t op = 0; op <= profile_.ops.size(); ++op) {
    const std::uint32_t group = keys_->of(OpId(op));
    if (asked[group] != 0 && !groups_[group].active) ops[group].push_back(op);
  }
  std::vector<double> active(keys_->count(), 0);
  PerThread<std::vector<Interval>> work_of_thread;
  parallel_for(keys_->count(), [&](std::size_t group) {
    if (asked[group] != 0 && groups_[group].active) {
      active[group] = double(*groups_[group].active);
      return;
    }
    std::vector<Interval>& work = work_of_thread.mine();
    work.clear();
    for (const std::uint32_t op : ops[group]) {
      for (const KeptOpSpan& span : by_op_->of(op)) {
        if (role_of(span.kind()) == Role::work) work.push_back(by_op_->interval(span));
      }
    }
    active[group] = double(covered_length(work));
  });
  return active;
}

}  // namespace

std::vector<OneCoreOp> find_one_core_ops(const Analysis& analysis, double min_share) {
  const Profile& profile = analysis.profile();
  const OneCoreWork found(analysis);
  std::vector<OneCoreOp> ops;
  if (found.core_count() < 2) return ops;
  const double min_active = min_share * double(length_of(analysis.timeline_extent()));
  std::vector<std::uint8_t> asked(found.keys().count());
  for (std::uint32_t group = 0; group < asked.size(); ++group) {
    asked[group] = found.is_of_one(group) &&
                   !is_instrumentation(profile.text(found.keys().rows()[group].kind)) &&
                   (found.kind_is_on_all(group) || found.length(group) >= min_active);
  }
  const std::vector<double> active = found.active_times(asked);
  std::vector<std::uint32_t> order;
  for (std::uint32_t group = 0; group < asked.size(); ++group) {
    if (asked[group] == 0) continue;
    if (found.kind_is_on_all(group) || active[group] >= min_active) order.push_back(group);
  }
  sort_rows(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return active[a] > active[b]; });
  for (const std::uint32_t group : order) {
    OneCoreOp& op =
        ops.emplace_back(OneCoreOp{std::string(found.keys().name(group)),
                                   found.keys().rows()[group].kind, found.core_name(group)});
    op.active = active[group];
    op.work = found.work(group);
    op.kind_is_on_all = found.kind_is_on_all(group);
  }
  return ops;
}

}  // namespace npuscope::analysis
