// A summary has sums per operator kind, and for each thread when it began and ended.
#include <algorithm>
#include <limits>
#include <map>

#include "base/counted.hpp"
#include "base/try.hpp"
#include "formats/qaic/device.hpp"
#include "formats/qaic/opstats/opstats_names.hpp"
#include "formats/qaic/opstats/profile_rows.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"
#include "formats/qaic/text/read_text.hpp"
#include "formats/qaic/text/read_text_parts.hpp"
#include "profile/pmu_events.hpp"
#include "profile/shared_numbers.hpp"

namespace npuscope::qaic {
namespace {

constexpr NamedNumber utilization{"utilization percent", NumberQuantity::share,
                                  NumberRole::utilization};

// A forged summary has numbers of any size; beyond this they would overflow when subtracted.
constexpr std::uint64_t max = std::uint64_t{1} << 61;

std::int64_t bounded(std::uint64_t value) { return std::int64_t(std::min(value, max)); }

class SummaryProfile {
 public:
  explicit SummaryProfile(const OpstatsSummary& summary) : summary_(summary), rows_(profile_) {}

  Profile run() {
    profile_.base_clock = rows_.clock("UTIMER", ClockKind::timer, summary_.utimer, true);
    name_device(profile_.provenance);
    profile_.provenance.graph = summary_.network;
    profile_.provenance.inferences = 1;
    device_ = rows_.unit(summary_.network, Engine::device, UnitId::none);
    rows_.of_profile(measure::stats_batch_size, Origin::measured, timer(), summary_.batch_size);
    for (const OpstatsCore& core : summary_.cores) add(core);
    if (summary_.end() > 0 && summary_.end() <= max) {
      span(device_, SpanKind::inference, summary_.begin(), summary_.ucycles(), std::nullopt);
    }
    add_host();
    return std::move(profile_);
  }

 private:
  void add_host();
  void add(const OpstatsCore& core);
  void add_threads(const OpstatsCore& core);
  void add_row(const OpstatsCore& core, const OpstatsRow& row);
  void add_ports_and_counters(const OpstatsCore& core);
  UnitId thread_unit(std::uint32_t lane, std::string_view group);
  UnitId group_unit(std::string_view group);

  ClockId timer() const { return profile_.base_clock; }
  void span(UnitId unit, SpanKind kind, std::uint64_t start, std::uint64_t duration,
            std::optional<std::uint64_t> cycles) {
    rows_.span(unit, OpId::none, kind, bounded(start), bounded(duration),
               cycles ? bounded(*cycles) : -1, 0);
  }
  void of_op(const NamedNumber& number, Origin origin, ClockId clock, double value) {
    profile_.add_measure(Measure::Subject::op, std::uint32_t(profile_.ops.size() - 1), number,
                         origin, clock, value);
  }

  const OpstatsSummary& summary_;
  Profile profile_;
  ProfileRows rows_;
  UnitId device_{};
  UnitId core_{};
  ClockId cycles_{};
  std::map<std::uint32_t, UnitId> threads_;            // of the core at hand, by number
  std::map<std::string, UnitId, std::less<>> groups_;  // each group's first thread
};

// Of the inference on the host's side; when each step began is not in the file.
void SummaryProfile::add_host() {
  if (summary_.host.empty()) return;
  const UnitId host = rows_.unit("host", Engine::host, UnitId::none);
  const ClockId microseconds = rows_.clock("microseconds", ClockKind::wall, Hertz{1e6});
  for (const HostTime& time : summary_.host) {
    rows_.of_unit(host, {time.name, MeasureKind::wall}, Origin::measured, microseconds,
                  time.microseconds);
  }
}

void SummaryProfile::add(const OpstatsCore& core) {
  threads_.clear();
  groups_.clear();
  core_ = rows_.unit(fmt::format("{}_Core_{}", summary_.network, core.core), Engine::core, device_,
                     core.core);
  cycles_ = rows_.clock(fmt::format("core {} cycles", core.core), ClockKind::unit_cycles, Hertz{0});
  add_threads(core);
  for (const OpstatsRow& row : core.rows) add_row(core, row);
  add_ports_and_counters(core);
}

UnitId SummaryProfile::thread_unit(std::uint32_t lane, std::string_view group) {
  const auto [found, is_new] = threads_.try_emplace(lane, UnitId::none);
  if (is_new) {
    const std::uint32_t core = profile_.units[index_of(core_)].core;
    found->second = rows_.unit(group, engine_of_group(group), core_, core, lane);
    groups_.try_emplace(std::string(group), found->second);
  }
  return found->second;
}

UnitId SummaryProfile::group_unit(std::string_view group) {
  const auto found = groups_.find(group);
  if (found != groups_.end()) return found->second;
  const std::uint32_t core = profile_.units[index_of(core_)].core;
  return groups_.emplace(std::string(group), rows_.unit(group, engine_of_group(group), core_, core))
      .first->second;
}

void SummaryProfile::add_threads(const OpstatsCore& core) {
  for (const OpstatsThread& thread : core.threads) {
    const UnitId unit = thread_unit(thread.thread, thread.group);
    span(unit, SpanKind::inference, thread.begin, thread.ucycles, thread.pcycles);
    if (!thread.utilization) continue;
    rows_.of_unit(unit, utilization, Origin::measured, timer(), *thread.utilization);
  }
  for (const OpstatsActivation& activation : core.activations) {
    rows_.of_unit(thread_unit(activation.thread, ""), {"activation", MeasureKind::span},
                  Origin::measured, timer(), double(activation.ucycles));
  }
  if (core.threads.empty()) return;
  std::uint64_t begin = std::numeric_limits<std::uint64_t>::max(), end = 0;
  for (const OpstatsThread& thread : core.threads) {
    begin = std::min(begin, thread.begin);
    end = std::max(end, thread.end);
  }
  span(core_, SpanKind::inference, begin, end - std::min(begin, end), core.inference_pcycles);
}

// Sums over the ops of a row; each op counts once, with its slowest thread's value. Waits are no
// ops: they are the group's own.
void SummaryProfile::add_row(const OpstatsCore& core, const OpstatsRow& row) {
  if (row.type != OpstatsRow::Type::op) {
    const std::string what = row.type == OpstatsRow::Type::sync ? "sync" : "barrier";
    const UnitId unit = group_unit(row.group);
    rows_.of_unit(unit, {what + " wait", MeasureKind::work, NumberRole::wait}, Origin::measured,
                  timer(), double(row.ucycles));
    rows_.of_unit(unit, {what + " count", NumberQuantity::count}, Origin::measured, timer(),
                  double(row.count));
    return;
  }
  // A kernel whose operands lie in TCM costs another thing than the same with operands in DDR.
  Op op;
  op.name = profile_.strings.intern(fmt::format("{} {} {}", row.kind, row.group, row.memory));
  op.kind = profile_.strings.intern(row.kind);
  op.engine = engine_of_group(row.group);
  op.memory = profile_.strings.intern(row.memory);
  op.types = profile_.strings.intern(row.types);
  op.output = Bytes{std::int64_t(std::clamp(row.output_kilobytes * 1024 + 0.5, 0.0, 9e18))};
  op.core = core.core;
  op.group = index_of(group_unit(row.group)) - index_of(core_) - 1;
  op.position = std::uint32_t(&row - core.rows.data());
  profile_.ops.push_back(op);
  of_op({"ucycles", MeasureKind::work}, Origin::measured, timer(), double(row.ucycles));
  of_op({"pcycles", MeasureKind::work}, Origin::measured, cycles_, double(row.pcycles));
  of_op({"count", NumberQuantity::count}, Origin::measured, timer(), double(row.count));
  of_op({"standard deviation of pcycles per KB", NumberQuantity::rate}, Origin::derived, timer(),
        row.stddev_per_kilobyte);
}

void SummaryProfile::add_ports_and_counters(const OpstatsCore& core) {
  for (const OpstatsPort& port : core.ports) {
    rows_.of_unit(thread_unit(port.thread, ""),
                  {measure::port_wait(port.port), MeasureKind::active, NumberRole::wait},
                  Origin::measured, timer(), double(port.ucycles));
  }
  for (const OpstatsPmu& pmu : core.pmu) {
    rows_.of_unit(thread_unit(pmu.thread, ""), pmu_number(pmu.event, measure::pmu(pmu.event)),
                  Origin::counter, timer(), double(pmu.count));
  }
  if (!core.ddr) return;
  rows_.of_unit(core_, ddr_read_bytes, Origin::counter, timer(), double(core.ddr->read_bytes));
  rows_.of_unit(core_, ddr_write_bytes, Origin::counter, timer(), double(core.ddr->write_bytes));
}

}  // namespace

Profile make_summary_profile(const OpstatsSummary& summary) {
  return SummaryProfile(summary).run();
}

Result<std::vector<Profile>> read_summary(std::string_view text, const std::string& name) {
  std::vector<Note> broken;
  TRY_AS(summary, parse_summary(text, name, &broken));
  std::vector<Profile> profiles;
  profiles.push_back(make_summary_profile(*summary));
  profiles.front().notes = std::move(broken);
  if (!summary->unread.empty()) {
    ProfileRows(profiles.front())
        .note(Severity::warning, name, 0,
              fmt::format("{} left out; the first is '{}'",
                          counted(summary->unread.size(), "line says nothing known and was",
                                  "lines say nothing known and were"),
                          summary->unread.front().substr(0, 80)),
              summary->unread.size());
  }
  return profiles;
}

}  // namespace npuscope::qaic
