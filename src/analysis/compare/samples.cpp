#include "npuscope/analysis/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "analysis/compare/samples_held.hpp"
#include "analysis/ops/op_times.hpp"
#include "analysis/run_identity.hpp"
#include "base/parallel.hpp"
#include "base/sort_rows.hpp"
#include "npuscope/analysis/ops.hpp"
#include "npuscope/analysis/statistics.hpp"

namespace npuscope::analysis {

OpSamples RunSamples::Held::of_spans(const ColumnSource& source) const {
  OpSamples out;
  const Spans& all = profile.spans;
  Gathering gathering(groups.groups().size(), spans.count(), all.size());
  const bool is_work = source.from == ColumnSource::From::work;
  const SelfTimes& self_times = analysis.self_times();
  // A transfer's issue meanwhile is no work of its op.
  const IssuesBeside* const issues = is_work ? &analysis.issues_beside() : nullptr;
  for (std::size_t row = 0; row < all.size(); ++row) {
    const std::uint32_t inference = spans.of(row);
    if (inference == Inferences::none) continue;
    double value = 0;
    if (is_work) {
      if (role_of(all.kind[row]) != Role::work) continue;
      value = double(self_times[row] - issues->of(row));
    } else {
      const std::int64_t measured = all.measures[source.column].values[row];
      if (measured == MeasureColumn::missing) continue;
      value = double(measured);
    }
    gathering.add({groups.of(all.op[row]), inference, value});
  }
  gathering.finish(spans.ids(), out);
  return out;
}

OpSamples RunSamples::Held::of_ops(const ColumnSource& source) const {
  OpSamples out;
  std::vector<std::uint32_t> ids = made.inferences;
  ids.push_back(every_instance);
  Gathering gathering(groups.groups().size(), ids.size(), profile.measures.size());
  for (const Measure& measure : profile.measures) {
    if (measure.subject != Measure::Subject::op || measure.what != source.what) continue;
    if (measure.kind != source.kind || measure.origin != source.origin) continue;
    if (measure.clock != source.clock || measure.subject_id >= profile.ops.size()) continue;
    if (!std::isfinite(measure.value)) continue;
    const auto place = std::lower_bound(ids.begin(), ids.end(), measure.instance) - ids.begin();
    gathering.add({groups.of(OpId{measure.subject_id}), std::uint32_t(place), measure.value});
  }
  gathering.finish(ids, out);
  return out;
}

RunSamples::RunSamples(const Profile& profile) : held_(std::make_unique<Held>(profile)) {
  if (!profile.numbers) held_->make_numbers();
  for (std::size_t i = 0; i < held_->numbers.metrics.size(); ++i) {
    held_->place_of.try_emplace(held_->numbers.metrics[i].name, i);
  }
}
RunSamples::~RunSamples() = default;
RunSamples::RunSamples(RunSamples&&) noexcept = default;

const Profile& RunSamples::profile() const { return held_->profile; }
const OpGroups& RunSamples::groups() const { return held_->groups; }
const std::vector<Metric>& RunSamples::metrics() const { return held_->numbers.metrics; }
bool RunSamples::is_estimated() const { return held_->numbers.is_estimated; }
const std::vector<Metric>& RunSamples::call() const { return held_->numbers.call; }
const std::vector<Metric>& RunSamples::shares() const {
  std::call_once(held_->has_shares, [&] { held_->find_shares(); });
  return held_->shares;
}
const Metric* RunSamples::metric(std::string_view name) const {
  const auto named = [&](const std::vector<Metric>& metrics) -> const Metric* {
    const auto found = std::find_if(metrics.begin(), metrics.end(),
                                    [&](const Metric& metric) { return metric.name == name; });
    return found == metrics.end() ? nullptr : &*found;
  };
  if (const Metric* found = named(call())) return found;
  const auto place = held_->place_of.find(std::string(name));
  if (place != held_->place_of.end()) return &held_->numbers.metrics[place->second];
  return name.starts_with("share(") ? named(shares()) : nullptr;
}
std::uint64_t RunSamples::metrics_left() const { return held_->numbers.metrics_left; }
const std::vector<std::uint32_t>& RunSamples::inferences() const {
  return held_->numbers.inferences;
}

std::vector<std::string> RunSamples::op_columns() const {
  std::vector<std::string> names;
  const auto add = [&](const auto& columns) {
    for (const auto& column : columns) {
      if (std::find(names.begin(), names.end(), column.name) == names.end()) {
        names.push_back(column.name);
      }
    }
  };
  add(held_->columns);
  add(held_->numbers.columns);
  return names;
}

std::optional<OpSamples> RunSamples::op_samples(std::string_view column) const {
  const auto of_name = [&](const auto& columns) {
    return std::find_if(columns.begin(), columns.end(),
                        [&](const auto& each) { return each.name == column; });
  };
  const auto kept = of_name(held_->numbers.columns);
  if (kept != held_->numbers.columns.end()) return *kept;
  const auto source = of_name(held_->columns);
  if (source == held_->columns.end()) return std::nullopt;
  OpSamples out =
      source->from == ColumnSource::From::ops ? held_->of_ops(*source) : held_->of_spans(*source);
  out.name = source->name;
  out.kind = source->kind;
  out.quantity = quantity_of(source->meaning);
  if (out.quantity == SampleQuantity::time) {
    out.time = source->clock == held_->profile.base_clock
                   ? held_->base
                   : time_base(held_->profile, source->clock);
  }
  return out;
}

RunFindings RunSamples::findings(const std::string& only) const {
  RunFindings all;
  if (held_->profile.numbers) {
    all = held_->numbers.findings;
    if (only.empty()) return all;
    std::erase_if(all.found, [&](const auto& each) { return each.rule != only; });
    std::erase_if(all.untried, [&](const auto& each) { return each.rule != only; });
    std::erase_if(all.quiet, [&](const auto& each) { return each != only; });
    return all;
  }
  DiagnoseOptions options;
  options.only = only;
  Diagnosis diagnosis = held_->analysis.findings(options);
  for (Finding& each : diagnosis.findings) {
    all.found.push_back({std::move(each.rule), name_of(each.weight)});
  }
  for (UntriedRule& each : diagnosis.untried) {
    all.untried.push_back({std::move(each.rule), std::move(each.missing)});
  }
  all.quiet = std::move(diagnosis.quiet);
  return all;
}

RunNumbers RunSamples::numbers() const {
  RunNumbers all = held_->numbers;
  if (held_->profile.numbers) return all;
  all.groups = held_->groups.groups();
  for (std::uint32_t group = 0; group < all.groups.size(); ++group) {
    all.after.push_back(held_->groups.after(group));
  }
  for (const std::string& column : op_columns()) all.columns.push_back(*op_samples(column));
  all.findings = findings();
  all.content = content_of(held_->profile);
  all.files = held_->profile.provenance.files;
  return all;
}

std::vector<RunSamples> samples_of(std::span<const Profile* const> profiles) {
  std::vector<std::optional<RunSamples>> made(profiles.size());
  parallel_for(profiles.size(), [&](std::size_t i) { made[i].emplace(*profiles[i]); });
  std::vector<RunSamples> samples;
  for (std::optional<RunSamples>& each : made) samples.push_back(std::move(*each));
  return samples;
}

namespace {

constexpr std::size_t groups_at_once = 8;  // numbers of a line of the processor's cache

}  // namespace

Gathering::Gathering(std::size_t groups, std::size_t inferences, std::size_t values)
    : groups_(groups), inferences_(inferences) {
  constexpr std::size_t always = 1 << 20;
  if (groups * inferences > std::max(always, 2 * values)) return;
  sums_.assign(groups * inferences, 0);
  seen_.assign(groups * inferences, 0);
}

void Gathering::finish(const std::vector<std::uint32_t>& ids, OpSamples& out) {
  if (sums_.empty()) {
    sort_rows(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return a.group != b.group ? a.group < b.group : a.inference < b.inference;
    });
  }
  any_.assign(inferences_, false);
  out.first.assign(1, 0);
  if (sums_.empty()) {
    std::size_t next = 0;
    for (std::uint32_t group = 0; group < groups_; ++group) {
      while (next < entries_.size() && entries_[next].group == group) put_entries(next, ids, out);
      out.first.push_back(std::uint32_t(out.entries.size()));
    }
  } else {
    out.entries.reserve(std::size_t(std::count(seen_.begin(), seen_.end(), 1)));
    for (std::size_t first = 0; first < groups_; first += groups_at_once) put_rows(first, ids, out);
  }
  for (std::size_t i = 0; i < inferences_; ++i) {
    if (any_[i]) out.inferences.push_back(ids[i]);
  }
}

// Those of some groups, which stand side by side in each inference.
void Gathering::put_rows(std::size_t first, const std::vector<std::uint32_t>& ids, OpSamples& out) {
  const std::size_t count = std::min(groups_at_once, groups_ - first);
  std::size_t next[groups_at_once] = {};
  for (std::size_t i = 0; i < inferences_; ++i) {
    const std::uint8_t* const seen = &seen_[i * groups_ + first];
    for (std::size_t group = 0; group < count; ++group) next[group] += seen[group];
  }
  std::size_t place = out.entries.size();
  for (std::size_t group = 0; group < count; ++group) {
    place += std::exchange(next[group], place);
    out.first.push_back(std::uint32_t(place));
  }
  out.entries.resize(place);
  for (std::size_t i = 0; i < inferences_; ++i) {
    const std::size_t at = i * groups_ + first;
    for (std::size_t group = 0; group < count; ++group) {
      if (seen_[at + group] == 0) continue;
      out.entries[next[group]++] = {ids[i], sums_[at + group]};
      any_[i] = true;
    }
  }
}

// All entries of one inference, from `next` on.
void Gathering::put_entries(std::size_t& next, const std::vector<std::uint32_t>& ids,
                            OpSamples& out) {
  const Entry& first = entries_[next];
  double sum = 0;
  while (next < entries_.size() && entries_[next].group == first.group &&
         entries_[next].inference == first.inference) {
    sum += entries_[next++].value;
  }
  out.entries.push_back({ids[first.inference], sum});
  any_[first.inference] = true;
}

}  // namespace npuscope::analysis
