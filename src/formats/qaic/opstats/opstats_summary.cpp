#include "formats/qaic/opstats/opstats_summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "base/sort_rows.hpp"
#include "formats/qaic/limits.hpp"
#include "formats/qaic/opstats/opstats_names.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"
#include "profile/pmu_events.hpp"

namespace npuscope::qaic {
namespace {

// What one op took over all threads that ran it.
struct OpTotal {
  bool executed = false;
  bool synced = false;
  bool barriered = false;
  StringId group{};
  std::int64_t ucycles = 0;  // kernel, or the transfer where that is longer
  std::int64_t pcycles = 0;
  std::int64_t sync = 0;
  std::int64_t barrier = 0;
};

// Mean and spread in one pass (Welford), so that the result does not depend on magnitudes.
struct Spread {
  std::uint64_t count = 0;
  double mean = 0;
  double squares = 0;

  void add(double value) {
    count += 1;
    const double before = value - mean;
    mean += before / double(count);
    squares += before * (value - mean);
  }
  double population_stddev() const { return count == 0 ? 0 : std::sqrt(squares / double(count)); }
};

// Of a count; measures of other kinds may be negative (a doorbell that rang before the begin).
std::uint64_t whole(double value) {
  constexpr double limit = 0x1p64;
  return value >= limit ? ~std::uint64_t{0} : value > 0 ? std::uint64_t(value) : 0;
}

// What tells rows apart.
struct RowKey {
  OpstatsRow::Type type{};
  std::uint32_t core = 0;
  StringId group{}, kind{}, memory{}, types{};
  bool operator==(const RowKey&) const = default;
};
struct RowKeyHash {
  std::size_t operator()(const RowKey& key) const {
    std::uint64_t hash = std::uint64_t(key.type);
    for (const std::uint32_t part : {key.core, std::uint32_t(key.group), std::uint32_t(key.kind),
                                     std::uint32_t(key.memory), std::uint32_t(key.types)}) {
      hash = (hash ^ part) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

struct RowTotal {
  OpstatsRow row;
  Spread pcycles_per_kilobyte;

  void add_op(const OpTotal& op, double kilobytes) {
    row.ucycles += std::uint64_t(op.ucycles);
    row.pcycles += std::uint64_t(op.pcycles);
    row.count += 1;
    row.output_kilobytes += kilobytes;
    if (kilobytes > 0) pcycles_per_kilobyte.add(double(op.pcycles) / kilobytes);
  }
  void add_wait(std::int64_t ticks) {
    row.ucycles += std::uint64_t(ticks);
    row.count += 1;
  }
};

class Summariser {
 public:
  explicit Summariser(const Profile& profile) : profile_(profile), ops_(profile.ops.size()) {}

  OpstatsSummary run() {
    summary_.network = std::string(profile_.text(profile_.units.front().name));
    summary_.batch_size =
        std::uint32_t(profile_measure(profile_, measure::stats_batch_size).value_or(1));
    summary_.utimer = profile_.clocks[index_of(profile_.base_clock)].rate;
    add_cores();
    add_spans();
    add_measures();
    add_rows();
    return std::move(summary_);
  }

 private:
  void add_cores();
  void add_spans();
  void add_op_span(std::size_t span, const Unit& unit);
  void add_inference(std::size_t span, const Unit& unit);
  void add_measures();
  void add_rows();

  OpstatsCore* core_of(const Unit& unit) {
    const auto found = core_index_.find(unit.core);
    return found == core_index_.end() ? nullptr : &summary_.cores[found->second];
  }

  const Profile& profile_;
  std::vector<OpTotal> ops_;
  std::map<std::uint32_t, std::size_t> core_index_;
  OpstatsSummary summary_;
};

void Summariser::add_cores() {
  for (const Unit& unit : profile_.units) {
    if (unit.engine != Engine::core) continue;
    core_index_[unit.core] = summary_.cores.size();
    summary_.cores.push_back({});
    summary_.cores.back().core = unit.core;
  }
}

void Summariser::add_spans() {
  std::vector<std::int64_t> busy(profile_.units.size());  // cycles of the ops of each unit
  const Spans& spans = profile_.spans;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Unit& unit = profile_.units[index_of(spans.unit[i])];
    if (spans.op[i] != OpId::none) {
      add_op_span(i, unit);
      if (spans.kind[i] == SpanKind::op) {
        busy[index_of(spans.unit[i])] += spans.processor_cycles[i];
      }
    } else if (unit.engine == Engine::core) {
      core_of(unit)->inference_pcycles = std::uint64_t(spans.processor_cycles[i]);
    } else if (unit.engine != Engine::device) {
      add_inference(i, unit);
    }
  }
  if (profile_measure(profile_, measure::stats_level).value_or(70) < 70) return;
  for (std::size_t i = 0; i < profile_.units.size(); ++i) {
    const Unit& unit = profile_.units[i];
    OpstatsCore* core = core_of(unit);
    if (core == nullptr || unit.engine == Engine::dma) continue;
    for (OpstatsThread& thread : core->threads) {
      if (thread.thread == unit.lane && thread.pcycles > 0 && unit.engine != Engine::core) {
        thread.utilization = 100.0 * double(busy[i]) / double(thread.pcycles);
      }
    }
  }
}

void Summariser::add_op_span(std::size_t span, const Unit& unit) {
  OpTotal& total = ops_[index_of(profile_.spans.op[span])];
  const std::int64_t duration = profile_.spans.duration[span];
  switch (profile_.spans.kind[span]) {
    case SpanKind::op:
      total.executed = true;
      total.group = unit.name;
      total.ucycles = std::max(total.ucycles, duration);
      total.pcycles = std::max(total.pcycles, profile_.spans.processor_cycles[span]);
      break;
    case SpanKind::transfer: total.ucycles = std::max(total.ucycles, duration); break;
    case SpanKind::sync:
      total.synced = true;
      total.sync = std::max(total.sync, duration);
      break;
    case SpanKind::barrier:
      total.barriered = true;
      total.barrier = std::max(total.barrier, duration);
      break;
    default: break;
  }
}

void Summariser::add_inference(std::size_t span, const Unit& unit) {
  const Spans& spans = profile_.spans;
  OpstatsCore* core = core_of(unit);
  const auto duration = std::uint64_t(spans.duration[span]);
  if (spans.kind[span] == SpanKind::activation) core->activations.push_back({unit.lane, duration});
  if (spans.kind[span] != SpanKind::inference) return;
  const auto begin = std::uint64_t(spans.start[span]);
  const auto pcycles = std::uint64_t(spans.processor_cycles[span]);
  core->threads.push_back({unit.lane, std::string(profile_.text(unit.name)), begin,
                           begin + duration, duration, pcycles, std::nullopt});
  core->batches.push_back({unit.lane, begin, begin + duration, duration, pcycles});
}

void Summariser::add_measures() {
  for (const Measure& row : profile_.measures) {
    if (row.subject != Measure::Subject::unit) continue;
    const Unit& unit = profile_.units[row.subject_id];
    OpstatsCore* core = core_of(unit);
    if (core == nullptr) continue;
    const std::string_view what = profile_.text(row.what);
    if (const auto port = measure::port_of_wait(what)) {
      core->ports.push_back({unit.lane, *port, whole(row.value)});
    } else if (row.meaning.role == NumberRole::pmu_event) {
      core->pmu.push_back({unit.lane, row.event, whole(row.value)});
    } else if (row.meaning.role == NumberRole::ddr_read) {
      if (!core->ddr) core->ddr.emplace();
      core->ddr->read_bytes = whole(row.value);
    } else if (row.meaning.role == NumberRole::ddr_write) {
      if (!core->ddr) core->ddr.emplace();
      core->ddr->write_bytes = whole(row.value);
    }
  }
  for (OpstatsCore& core : summary_.cores) {
    sort_rows(core.ports.begin(), core.ports.end(),
              [](const auto& a, const auto& b) { return a.port < b.port; });
  }
}

void Summariser::add_rows() {
  std::unordered_map<RowKey, RowTotal, RowKeyHash> rows;
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const OpTotal& total = ops_[i];
    const Op& op = profile_.ops[i];
    if (!total.executed) continue;
    rows[{OpstatsRow::Type::op, op.core, total.group, op.kind, op.memory, op.types}].add_op(
        total, double(op.output.value) / double(bytes_per_kilobyte));
    if (total.synced) {
      rows[{OpstatsRow::Type::sync, op.core, total.group, {}, {}, {}}].add_wait(total.sync);
    }
    if (total.barriered) {
      rows[{OpstatsRow::Type::barrier, op.core, total.group, {}, {}, {}}].add_wait(total.barrier);
    }
  }
  for (auto& [key, sum] : rows) {
    const auto found = core_index_.find(key.core);
    if (found == core_index_.end()) continue;
    OpstatsRow& row = sum.row;
    row.type = key.type;
    row.kind = std::string(profile_.text(key.kind));
    row.group = std::string(profile_.text(key.group));
    row.memory = std::string(profile_.text(key.memory));
    row.types = std::string(profile_.text(key.types));
    row.stddev_per_kilobyte = sum.pcycles_per_kilobyte.population_stddev();
    summary_.cores[found->second].rows.push_back(std::move(row));
  }
  for (OpstatsCore& core : summary_.cores) {
    std::sort(core.rows.begin(), core.rows.end(), [](const OpstatsRow& a, const OpstatsRow& b) {
      if (a.ucycles != b.ucycles) return a.ucycles > b.ucycles;
      if (a.pcycles != b.pcycles) return a.pcycles > b.pcycles;
      return a.details() < b.details();
    });
  }
}

template <class Rows, class Member>
std::uint64_t largest(const Rows& rows, Member member) {
  std::uint64_t max = 0;
  for (const auto& row : rows) max = std::max(max, row.*member);
  return max;
}

}  // namespace

OpstatsSummary summarise(const Profile& profile) {
  if (profile.units.empty() || profile.clocks.empty()) return {};
  return Summariser(profile).run();
}

std::optional<double> OpstatsRow::ucycles_per_kilobyte() const {
  if (output_kilobytes <= 0) return std::nullopt;
  return double(ucycles) / output_kilobytes;
}

std::optional<double> OpstatsRow::pcycles_per_kilobyte() const {
  if (output_kilobytes <= 0) return std::nullopt;
  return double(pcycles) / output_kilobytes;
}

std::string OpstatsRow::details() const {
  if (type == Type::sync) return "sync " + group;
  if (type == Type::barrier) return "barrier " + group;
  return fmt::format("{}{} {} {} {}", kind, ends_with_blank(kind) ? " " : "", group, memory,
                     types.empty() ? "" : "(" + types + ")");
}

std::uint64_t OpstatsCore::ucycles() const { return largest(threads, &OpstatsThread::ucycles); }
std::uint64_t OpstatsCore::pcycles() const { return largest(threads, &OpstatsThread::pcycles); }

std::vector<OpstatsPmuUse> OpstatsCore::pmu_use() const {
  std::vector<OpstatsPmuUse> uses;
  for (const PmuEventInfo& event : pmu_events()) {
    if (event.engine == Engine::none) continue;
    OpstatsPmuUse use{event.code, 0, 0};
    bool any = false;
    for (const OpstatsPmu& counter : pmu) {
      if (counter.event != event.code) continue;
      any = true;
      use.count += counter.count;
    }
    for (const OpstatsThread& thread : threads) {
      if (engine_of_group(thread.group) == event.engine) use.pcycles += thread.pcycles;
    }
    if (any && use.pcycles > 0) uses.push_back(use);
  }
  return uses;
}

double OpstatsCore::effective_megahertz(Hertz utimer) const {
  const std::uint64_t ticks = ucycles();
  return ticks == 0 ? 0 : double(pcycles()) * (utimer.value / 1e6) / double(ticks);
}

std::uint64_t OpstatsSummary::begin() const {
  std::optional<std::uint64_t> first;
  for (const OpstatsCore& core : cores) {
    for (const OpstatsBatch& batch : core.batches) {
      first = std::min(first.value_or(batch.begin), batch.begin);
    }
  }
  return first.value_or(0);
}

std::uint64_t OpstatsSummary::end() const {
  std::uint64_t last = 0;
  for (const OpstatsCore& core : cores) {
    last = std::max(last, largest(core.batches, &OpstatsBatch::end));
  }
  return last;
}

double OpstatsSummary::seconds() const {
  return to_seconds(Ticks{std::int64_t(ucycles())}, utimer);
}

double OpstatsSummary::batches_per_second() const { return ucycles() == 0 ? 0 : 1 / seconds(); }

double OpstatsSummary::inferences_per_second() const {
  return ucycles() == 0 ? 0 : batch_size / seconds();
}

std::optional<std::uint64_t> OpstatsSummary::longest_wait(std::uint32_t port) const {
  std::optional<std::uint64_t> longest;
  for (const OpstatsCore& core : cores) {
    for (const OpstatsPort& row : core.ports) {
      if (row.port == port) longest = std::max(longest.value_or(0), row.ucycles);
    }
  }
  return longest;
}

}  // namespace npuscope::qaic
