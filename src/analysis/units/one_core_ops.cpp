#include <algorithm>
#include <map>

#include "analysis/answers.hpp"
#include "analysis/measuring.hpp"
#include "analysis/ops/op_keys.hpp"
#include "analysis/ops/op_runs.hpp"
#include "base/counting_sort.hpp"
#include "base/parallel.hpp"
#include "npuscope/analysis/imbalance.hpp"
#include "npuscope/profile/column.hpp"

namespace npuscope::analysis {
namespace {

// Groups of ops whose work ran on one core, what they did, and kernels that ran on all cores.
class OneCoreWork {
 public:
  explicit OneCoreWork(const Analysis& analysis)
      : profile_(analysis.profile()),
        keys_(profile_, {}),
        cores_(profile_),
        groups_(keys_.count()) {
    number_kinds();
    look_at_spans(analysis.self_times(), analysis.issues_beside());
  }

  const OpKeys& keys() const { return keys_; }
  std::uint32_t core_count() const { return core_count_; }

  // Whether work of the group ran on one core alone.
  bool is_of_one(std::uint32_t group) const { return groups_[group].core < several; }
  std::string core_name(std::uint32_t group) const { return cores_.name(groups_[group].core); }
  double work(std::uint32_t group) const { return groups_[group].work; }
  // No less than its active time.
  double length(std::uint32_t group) const { return double(groups_[group].length); }
  // Whether the group has one kernel, which runs on as many cores as any do.
  bool kind_is_on_all(std::uint32_t group) const {
    const OpRow& row = keys_.rows()[group];
    return row.kinds == 1 && on_all_[index_of(row.kind)];
  }

  // By group; zero for those that are not asked for.
  std::vector<double> active_times(const std::vector<std::uint8_t>& asked) const;

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0}, several = none - 1;

  struct Group {
    std::uint32_t core = none;
    double work = 0;
    std::int64_t length = 0;  // sum over its spans

    void note(std::uint32_t other) {
      if (other == none) return;
      core = core == none || core == other ? other : several;
    }
    void add(const Group& part) {
      note(part.core);
      work += part.work;
      length = saturating_add(length, part.length);
    }
  };

  void number_kinds();
  void look_at_spans(const std::vector<std::int64_t>& own, const IssuesBeside& issues);
  void find_kinds_on_all(const std::vector<std::uint8_t>& ran);

  const Profile& profile_;
  OpKeys keys_;
  CoreNumbers cores_;
  std::vector<Group> groups_;
  std::uint32_t core_count_ = 0;
  std::vector<StringId> kinds_;            // of ops, each once; none of more than can be noted
  std::vector<std::uint32_t> kind_of_op_;  // its place among them
  std::vector<bool> on_all_;               // by text of the profile
};

void OneCoreWork::number_kinds() {
  constexpr std::size_t max_notes = std::size_t{1} << 25;
  std::map<StringId, std::uint32_t> place_of;
  kind_of_op_.reserve(profile_.ops.size());
  for (const Op& op : profile_.ops) {
    const auto [place, is_new] = place_of.try_emplace(op.kind, std::uint32_t(kinds_.size()));
    if (is_new) kinds_.push_back(op.kind);
    kind_of_op_.push_back(place->second);
  }
  if (kinds_.size() * cores_.count() <= max_notes) return;
  kinds_.clear();
  kind_of_op_.clear();
}

// Of work on NPUs. A group that only other processors work on has no core.
void OneCoreWork::look_at_spans(const std::vector<std::int64_t>& own, const IssuesBeside& issues) {
  const Spans& spans = profile_.spans;
  struct Part {
    std::vector<std::uint8_t> ran, ran_kinds;  // by core; by kind and core
    std::vector<Group> groups;
  };
  // Noting all of them is little beside looking at a part's spans.
  const std::size_t noted = keys_.count() + kinds_.size() * cores_.count() / 8;
  const std::vector<RowRange> ranges =
      ranges_of(spans.size(), std::max<std::size_t>(65'536, 16 * noted));
  std::vector<Part> parts(ranges.size());
  parallel_for(parts.size(), [&](std::size_t i) {
    Part& part = parts[i];
    part.ran.assign(cores_.count(), false);
    part.ran_kinds.assign(kinds_.size() * cores_.count(), false);
    part.groups.resize(keys_.count());
    for (std::size_t row = ranges[i].first; row < ranges[i].last; ++row) {
      const bool is_work = role_of(spans.kind[row]) == Role::work;
      if (!is_work && spans.kind[row] != SpanKind::async) continue;
      const std::uint32_t core = cores_.of(spans.unit[row]);
      part.ran[core] = true;
      if (!is_work) continue;
      Group& group = part.groups[keys_.of(row)];
      group.work += double(own[row] - issues.of(row));
      group.length = saturating_add(group.length, length_of(interval_of(spans, row)));
      if (!cores_.is_of_npu(core)) continue;
      group.note(core);
      const std::size_t op = index_of(spans.op[row]);
      if (op < kind_of_op_.size()) part.ran_kinds[kind_of_op_[op] * cores_.count() + core] = true;
    }
  });
  std::vector<std::uint8_t> ran(cores_.count(), false), ran_kinds(kinds_.size() * ran.size());
  for (const Part& part : parts) {
    for (std::size_t core = 0; core < ran.size(); ++core) ran[core] |= part.ran[core];
    for (std::size_t at = 0; at < ran_kinds.size(); ++at) ran_kinds[at] |= part.ran_kinds[at];
    for (std::size_t at = 0; at < groups_.size(); ++at) groups_[at].add(part.groups[at]);
  }
  for (std::uint32_t core = 0; core < ran.size(); ++core) {
    core_count_ += ran[core] != 0 && cores_.is_of_npu(core);
  }
  find_kinds_on_all(ran_kinds);
}

void OneCoreWork::find_kinds_on_all(const std::vector<std::uint8_t>& ran) {
  on_all_.assign(profile_.strings.size(), false);
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    const auto first = ran.begin() + std::ptrdiff_t(kind * cores_.count());
    const auto count = std::count(first, first + std::ptrdiff_t(cores_.count()), true);
    if (kinds_[kind] != StringId::empty) on_all_[index_of(kinds_[kind])] = count == core_count_;
  }
}

std::vector<double> OneCoreWork::active_times(const std::vector<std::uint8_t>& asked) const {
  const Spans& spans = profile_.spans;
  CountingSort by_group(spans.size(), keys_.count(), [&](std::size_t row) {
    const std::uint32_t group = keys_.of(row);
    const bool counts = role_of(spans.kind[row]) == Role::work && asked[group];
    return counts ? group : counting_sort_leaves_out;
  });
  Column<Interval> sorted;
  sorted.resize(by_group.size());
  by_group.place(
      [&](std::size_t row, std::uint32_t place) { sorted[place] = interval_of(spans, row); });
  std::vector<double> active(keys_.count(), 0);
  parallel_for(keys_.count(), [&](std::size_t group) {
    const std::size_t first = by_group.first()[group], last = by_group.first()[group + 1];
    active[group] = double(covered_length(std::span(sorted).subspan(first, last - first)));
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
                   !is_measuring(profile.text(found.keys().rows()[group].kind)) &&
                   (found.kind_is_on_all(group) || found.length(group) >= min_active);
  }
  const std::vector<double> active = found.active_times(asked);
  std::vector<std::uint32_t> order;
  for (std::uint32_t group = 0; group < asked.size(); ++group) {
    if (asked[group] == 0) continue;
    if (found.kind_is_on_all(group) || active[group] >= min_active) order.push_back(group);
  }
  std::stable_sort(order.begin(), order.end(),
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
