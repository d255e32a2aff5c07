#include "analysis/ops/op_table_builder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "analysis/ops/op_times.hpp"
#include "base/counting_sort.hpp"
#include "base/parallel.hpp"
#include "base/sort_rows.hpp"
#include "npuscope/analysis/statistics.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::analysis {
namespace op_table_details {

// What the cycles and packets of kernels say: those of waits and transfers are of something else.
class Packets {
 public:
  explicit Packets(const Profile& profile) : profile_(profile) {
    const std::size_t clock = index_of(profile.base_clock);
    if (clock >= profile.clocks.size()) return;
    if (profile.clocks[clock].kind != ClockKind::unit_cycles) return;
    packets_ = profile.spans.measure(NumberRole::packets);
  }

  void add(const OpSpan& span) {
    if (packets_ == nullptr || role_of(span.kind) != Role::work) return;
    if (domain_of(profile_, span.row) == Domain::movement) return;
    const std::int64_t count = packets_->values[span.row];
    if (count <= 0) return;  // or missing
    packet_count_ += double(count);
    cycles_ += double(std::max<std::int64_t>(0, profile_.spans.duration[span.row]));
  }

  std::optional<double> cycles_per_packet() const {
    return packet_count_ > 0 ? std::optional(cycles_ / packet_count_) : std::nullopt;
  }

 private:
  const Profile& profile_;
  const MeasureColumn* packets_ = nullptr;
  double packet_count_ = 0, cycles_ = 0;
};

// What a row of several kinds is mostly: by the dominant path where spans tell, else by work. Four
// threads at once are four times the work, and not what the time went to.
class KindsOfRow {
 public:
  KindsOfRow(const Spans& spans, bool wanted)
      : wanted_(wanted), path_(spans.measure(NumberRole::dominant_path)) {}

  void add(const Profile& profile, const OpSpan& span) {
    const std::size_t op = index_of(span.op);
    if (!wanted_ || op >= profile.ops.size()) return;
    const std::int64_t time = path_ == nullptr ? span.own : path_->values[span.row];
    if (time <= 0) return;
    time_[profile.ops[op].kind] += double(time);
    all_ += double(time);
  }
  void tell(OpRow& row) const {
    double max = 0;
    for (const auto& [kind, time] : time_) {
      if (kind == StringId::empty || time <= max) continue;
      max = time;
      row.main_kind = kind;
    }
    if (all_ > 0) row.main_share = max / all_;
  }

 private:
  bool wanted_;
  const MeasureColumn* path_;
  std::map<StringId, double> time_;
  double all_ = 0;
};

// How unlike the layers are whose nodes a row holds.
class LayersOfRow {
 public:
  explicit LayersOfRow(bool wanted) : wanted_(wanted) {}

  bool wanted() const { return wanted_; }
  void add(std::uint32_t layer, std::int64_t work) { work_[layer] += double(work); }
  // Of an inference, the mean of as many.
  std::optional<LayerSpread> spread(std::size_t inferences) const {
    if (work_.size() < 2) return std::nullopt;
    std::vector<double> work;
    work.reserve(work_.size());
    for (const auto& [layer, sum] : work_) work.push_back(sum / double(inferences));
    std::sort(work.begin(), work.end());
    return LayerSpread{work.front(), median_of(work), work.back()};
  }

 private:
  bool wanted_;
  std::map<std::uint32_t, double> work_;
};

}  // namespace op_table_details

// The sum of all, or the median of the sums of each inference after the first.
double OpTableBuilder::typical_of(const std::vector<double>& work) const {
  std::vector<double> sums;
  for (const double of_slot : work) {
    if (!std::isnan(of_slot)) sums.push_back(of_slot);
  }
  if (!is_steady()) return sums.empty() ? 0 : sums.front();
  // In the others it did nothing: as many zeros.
  const std::size_t inferences = inferences_.count() - 1;
  if (2 * sums.size() < inferences) return 0;
  sums.resize(std::max(sums.size(), inferences), 0);
  return median_of(std::move(sums));
}

// Packets, layers and cores of a row; adds up blocks of its spans.
class OpTableBuilder::Details {
 public:
  Details(const OpTableBuilder& table, std::uint32_t group)
      : table_(table),
        packets_(table.profile_),
        layers_(table.keys_.rows()[group].layers > 1),
        work_of_(kept(table)) {}

  void add(OpSpans spans) {
    for (const OpSpan& span : spans) {
      if (!table_.counts(span)) continue;
      packets_.add(span);
      if (role_of(span.kind) != Role::work) continue;
      const std::int64_t work = table_.sums_.work_of(span);
      if (layers_.wanted()) layers_.add(table_.keys_.layer_of(span.op), work);
      add_to_core(span, work);
    }
  }

  void finish(OpDetails& details) {
    details.cycles_per_packet = packets_.cycles_per_packet();
    details.layers = layers_.spread(table_.is_steady() ? table_.inferences_.count() - 1 : 1);
    std::sort(used_.begin(), used_.end());
    std::vector<double> work;
    for (const std::uint32_t core : used_) {
      work.push_back(table_.typical_of(work_of_[core]));
      work_of_[core].clear();
    }
    if (work.empty()) return;
    CoreSpread& spread = details.spread;
    const auto max = std::max_element(work.begin(), work.end());
    spread.cores = std::uint32_t(work.size());
    spread.max = *max;
    spread.most_loaded = table_.cores_.first_unit(used_[std::size_t(max - work.begin())]);
    spread.min = *std::min_element(work.begin(), work.end());
    spread.median = median_of(std::move(work));
  }

 private:
  static constexpr double did_not_run = std::numeric_limits<double>::quiet_NaN();

  static WorkOfCores& kept(const OpTableBuilder& table) {
    WorkOfCores& work_of = table.work_of_cores_.mine();
    if (work_of.size() < table.cores_.count()) work_of.resize(table.cores_.count());
    return work_of;
  }

  void add_to_core(const OpSpan& span, std::int64_t work) {
    const std::uint32_t core = table_.cores_.of(span.unit);
    if (!table_.cores_.is_of_npu(core)) return;
    auto& of_core = work_of_[core];
    if (of_core.empty()) used_.push_back(core);
    const std::size_t slot = table_.is_steady() ? span.slot : 0;
    if (of_core.size() <= slot) of_core.resize(slot + 1, did_not_run);
    of_core[slot] = (std::isnan(of_core[slot]) ? 0 : of_core[slot]) + double(work);
  }

  const OpTableBuilder& table_;
  op_table_details::Packets packets_;
  op_table_details::LayersOfRow layers_;
  WorkOfCores& work_of_;
  std::vector<std::uint32_t> used_;  // cores
};

// Adds up how often the ops of a row ran, block by block of its spans that are of one op.
class OpTableBuilder::Runs {
 public:
  explicit Runs(const OpTableBuilder& table)
      : table_(table), runs_(table.profile_, table.units_of_runs_.mine()) {}

  // Of an op that runs on several units, each row of units has its part of the run.
  void count(std::uint32_t group, OpRow& row) {
    lengths_.clear();
    const OpSpansInGroups& kept = table_.sums_.spans();
    table_.sums_.for_spans(group, [&](std::span<const KeptOpSpan> spans) {
      const std::vector<std::uint32_t>& order = by_op(spans);
      const auto at = [&](std::size_t i) -> const KeptOpSpan& {
        return spans[order.empty() ? i : order[i]];
      };
      for (std::size_t i = 0; i < spans.size();) {
        const OpId op = at(i).op;
        runs_.begin(op);
        for (; i < spans.size() && at(i).op == op; ++i) {
          OpSpan span;
          kept.unpack(at(i), span);
          if (!table_.counts(span)) continue;
          runs_.add(span.kind, kept.instance(at(i)), span.unit, kept.interval(at(i)));
        }
        note(op, runs_.finish(lengths_), row);
      }
    });
    row.runs = lengths_.size();
    if (!table_.options_.details || lengths_.empty()) return;
    std::vector<double> lengths(lengths_.begin(), lengths_.end());
    row.details.p50 = percentile_of(lengths, 50);
    row.details.p95 = percentile_of(std::move(lengths), 95);
  }

 private:
  void note(OpId op, std::size_t runs, OpRow& row) const {
    if (!table_.options_.details || table_.keys_.of_units()) return;
    if (index_of(op) >= table_.profile_.ops.size() || runs == 0) return;
    const double output = double(table_.profile_.ops[index_of(op)].output.value) * double(runs);
    if (output > 0) row.details.output_bytes = row.details.output_bytes.value_or(0) + output;
  }

  // The places of the spans by their op, in their order; none where they are in that order.
  const std::vector<std::uint32_t>& by_op(std::span<const KeptOpSpan> spans) {
    order_.clear();
    const auto earlier = [](const KeptOpSpan& a, const KeptOpSpan& b) {
      return index_of(a.op) < index_of(b.op);
    };
    if (std::is_sorted(spans.begin(), spans.end(), earlier)) return order_;
    order_.resize(spans.size());
    const std::size_t ops = table_.profile_.ops.size();
    // Where a row has few of very many ops, to count all of them would cost more than to sort.
    if (spans.size() < ops / 16) {
      std::iota(order_.begin(), order_.end(), 0u);
      sort_rows(order_.begin(), order_.end(),
                [&](std::uint32_t a, std::uint32_t b) { return earlier(spans[a], spans[b]); });
      return order_;
    }
    CountingSort sort(spans.size(), ops + 1, [&](std::size_t i) {
      return std::uint32_t(std::min<std::size_t>(index_of(spans[i].op), ops));
    });
    sort.place_items(order_);
    return order_;
  }

  const OpTableBuilder& table_;
  OpRuns runs_;
  std::vector<std::uint32_t> order_;
  std::vector<std::int64_t> lengths_;
};

// How many spans a row has, on which units, and the engines that it used; adds up blocks of them.
class OpTableBuilder::Instances {
 public:
  Instances(const OpTableBuilder& table, std::uint32_t group)
      : table_(table),
        kinds_(table.profile_.spans, table.keys_.rows()[group].kinds > 1),
        is_used_(kept(table)) {
    if (table.sums_.any_compiled()) look_for_compiled(group);
    std::fill(std::begin(work_), std::end(work_), -1);
  }

  void add(OpSpans spans) {
    const SpanEngines& engines = table_.engines_;
    const auto last_unit = std::uint32_t(is_used_.size() - 1);
    std::uint8_t* const is_used = is_used_.data();
    // Most are of the engine of the one before: a sum at hand is not waited for.
    auto engine = Engine::none;
    std::int64_t work = work_[std::size_t(engine)];
    for (const OpSpan& span : spans) {
      if (!is_counted(span.kind)) continue;
      if (const Engine its = engines.of(span.op, span.unit, span.kind); its != engine) {
        work_[std::size_t(std::exchange(engine, its))] = work;
        work = work_[std::size_t(its)];
      }
      work = saturating_add(std::max<std::int64_t>(work, 0), span.own);
      const std::uint32_t unit = std::min(index_of(span.unit), last_unit);
      if (is_used[unit] != 0) continue;
      is_used[unit] = true;
      used_.push_back(unit);
    }
    work_[std::size_t(engine)] = work;
    for (const OpSpan& span : spans) {
      if (!is_counted(span.kind) || !table_.counts(span)) continue;
      instances_ += 1;
      kinds_.add(table_.profile_, span);
    }
  }

  void finish(OpRow& row) {
    row.instances += instances_;
    row.units = std::uint32_t(used_.size());
    for (const std::uint32_t unit : used_) is_used_[unit] = false;
    kinds_.tell(row);
    for (std::size_t engine = 0; engine < engine_count; ++engine) {
      if (work_[engine] >= 0) row.engines.push_back(Engine(engine));
    }
    sort_rows(row.engines.begin(), row.engines.end(),
              [&](Engine a, Engine b) { return work_[std::size_t(a)] > work_[std::size_t(b)]; });
    double all = 0;
    for (const std::int64_t of_engine : work_) all += double(std::max<std::int64_t>(0, of_engine));
    if (all <= 0) return;
    row.engine_share = double(work_[std::size_t(row.engines.front())]) / all;
  }

 private:
  static std::vector<std::uint8_t>& kept(const OpTableBuilder& table) {
    std::vector<std::uint8_t>& is_used = table.used_units_.mine();
    is_used.resize(table.profile_.units.size() + 1, false);
    return is_used;
  }

  void look_for_compiled(std::uint32_t group) {
    table_.sums_.for_spans(group, [&](std::span<const KeptOpSpan> spans) {
      compiled_ = compiled_ || std::any_of(spans.begin(), spans.end(), [](const KeptOpSpan& span) {
                    return is_compiled(span.kind());
                  });
    });
  }

  bool is_counted(SpanKind kind) const {
    return role_of(kind) == Role::work || (!compiled_ && kind == SpanKind::async);
  }

  const OpTableBuilder& table_;
  op_table_details::KindsOfRow kinds_;
  std::vector<std::uint8_t>& is_used_;
  std::vector<std::uint32_t> used_;  // units
  std::int64_t work_[engine_count];  // -1: not used
  std::uint64_t instances_ = 0;
  bool compiled_ = false;
};

RowSums OpTableBuilder::sum_row(std::uint32_t group) {
  OpRow& row = keys_.rows()[group];
  Instances instances(*this, group);
  Details details(*this, group);
  RowSums sums = sums_.of(group, [&](OpSpans spans) {
    instances.add(spans);
    if (options_.details) details.add(spans);
  });
  instances.finish(row);
  if (options_.details) details.finish(row.details);
  if (counts_runs()) Runs(*this).count(group, row);
  return sums;
}

// Where each row begins in one inference.
void OpTableBuilder::add_starts() {
  if (!keys_.has_ops() || profile_.spans.size() == 0) return;
  const OpTimes& times = analysis_.op_times();
  std::optional<std::int64_t> first;
  const auto each = [&](auto does) {
    for (std::uint32_t op = 0; op < profile_.ops.size(); ++op) {
      if (times.known && times.ran(OpId{op})) does(OpId{op}, times.begin[op]);
    }
  };
  each([&](OpId, std::int64_t begin) { first = std::min(first.value_or(begin), begin); });
  each([&](OpId op, std::int64_t begin) {
    if (keys_.of(op) == OpKeys::none) return;
    auto& start = keys_.rows()[keys_.of(op)].details.start;
    const std::int64_t since_first = saturating_subtract(begin, *first);
    start = std::min(start.value_or(since_first), since_first);
  });
}

void OpTableBuilder::count_cores() {
  const Spans& spans = profile_.spans;
  std::vector<std::uint8_t> ran(cores_.count(), false);
  std::size_t unseen = 0;
  for (std::uint32_t core = 0; core < ran.size(); ++core) unseen += cores_.is_of_npu(core);
  for (std::size_t row = 0; row < spans.size() && unseen > 0; ++row) {
    const SpanKind kind = spans.kind[row];
    if (role_of(kind) != Role::work && kind != SpanKind::async) continue;
    const std::uint32_t core = cores_.of(spans.unit[row]);
    if (ran[core] != 0 || !cores_.is_of_npu(core)) continue;
    ran[core] = true;
    table_.cores += 1;
    unseen -= 1;
  }
}

// Without executions, as in a summary: engines and cores by what is told of ops, work by their
// ticks.
void OpTableBuilder::take_told_cores() {
  std::vector<double> work_of(profile_.ops.size(), 0);
  bool any = false;
  for (const Measure& measure : profile_.measures) {
    if (measure.subject != Measure::Subject::op || measure.kind != MeasureKind::work) continue;
    if (measure.clock != profile_.base_clock || measure.subject_id >= work_of.size()) continue;
    work_of[measure.subject_id] += measure.value;
    any = true;
  }
  std::map<std::uint32_t, UnitId> core_units;
  for (std::uint32_t i = 0; i < profile_.units.size(); ++i) {
    const Unit& unit = profile_.units[i];
    if (unit.engine == Engine::core) core_units.try_emplace(unit.core, UnitId{i});
  }
  if (!any || core_units.empty() || !keys_.has_ops()) return;
  std::vector<std::map<std::uint32_t, double>> by_core(keys_.rows().size());
  for (std::uint32_t op = 0; op < profile_.ops.size(); ++op) {
    const Op& of = profile_.ops[op];
    const std::uint32_t at = keys_.of(OpId{op});
    if (at == OpKeys::none || !core_units.contains(of.core)) continue;
    by_core[at][of.core] += work_of[op];
    std::vector<Engine>& engines = keys_.rows()[at].engines;
    const bool is_new = std::find(engines.begin(), engines.end(), of.engine) == engines.end();
    if (of.engine != Engine::none && is_new) engines.push_back(of.engine);
  }
  table_.cores = std::uint32_t(core_units.size());
  for (std::size_t row = 0; row < by_core.size(); ++row) {
    if (by_core[row].empty()) continue;
    CoreSpread& spread = keys_.rows()[row].details.spread;
    std::vector<double> work;
    for (const auto& [core, ticks] : by_core[row]) {
      if (work.empty() || ticks > spread.max) {
        spread.max = ticks;
        spread.most_loaded = core_units.at(core);
      }
      work.push_back(ticks);
    }
    spread.cores = std::uint32_t(work.size());
    spread.min = *std::min_element(work.begin(), work.end());
    spread.median = median_of(std::move(work));
  }
}

}  // namespace npuscope::analysis
