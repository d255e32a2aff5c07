#include "formats/qaic/stats/stats_decoding.hpp"

namespace npuscope::qaic {

namespace {

// Below this a timer cannot be what the format says; conversions would overflow.
constexpr std::uint32_t slowest_utimer_khz = 1000;
constexpr std::uint32_t fastest_utimer_khz = 10'000'000;

}  // namespace

Status StatsDecoding::run() {
  if (auto read = read_identity(); !read) return read;
  if (auto right = check_identity(); !right) return right;
  set_clock();
  add_profile_measures();
  note_unknown_sections();
  read_threads();
  add_ops();
  add_inferences();
  add_ddr();
  add_ports();
  add_op_pmu();
  note_wrapped_counters();
  return {};
}

Status StatsDecoding::read_identity() {
  const SectionEntry* entry = reader_.find(stats_identity);
  if (entry == nullptr || entry->count != 1) {
    return input_error("{}: does not say which program wrote it; copy the file again", file_);
  }
  const auto records = reader_.records<StatsIdentity>(*entry);
  if (!records) return tl::unexpected(records.error());
  identity_ = records->front();
  return {};
}

Status StatsDecoding::check_identity() const {
  if (const auto expected = network_.fingerprint();
      expected && *expected != identity_.program_fingerprint) {
    return input_error(
        "{}: was written by another program (fingerprint {:016x}, network {} of the "
        "QPC has {:016x}); give the programqpc.bin that was run",
        file_, identity_.program_fingerprint, network_.name(), *expected);
  }
  if (identity_.cores != network_.cores() ||
      identity_.threads_per_core != network_.threads_per_core()) {
    return input_error(
        "{}: was written by {} cores of {} threads but network {} has {} of {}; give "
        "the programqpc.bin that was run",
        file_, identity_.cores, identity_.threads_per_core, network_.name(), network_.cores(),
        network_.threads_per_core());
  }
  return {};
}

void StatsDecoding::set_clock() {
  std::uint32_t khz = identity_.utimer_khz;
  if (khz < slowest_utimer_khz || khz > fastest_utimer_khz) {
    note(Severity::error, reader_.find(stats_identity)->offset, 1,
         fmt::format("a timer of {} kHz cannot be; 19,200 kHz is taken instead", khz));
    khz = 19200;
  }
  profile_.clocks[index_of(profile_.base_clock)].rate = Hertz{khz * 1e3};
  last_tick_ = std::min(max_ticks, max_seconds * 1000 * khz);
  for (Unit& unit : profile_.units) unit.device = identity_.device;
}

void StatsDecoding::add_profile_measures() {
  const auto add = [&](const NamedNumber& number, double value) {
    profile_.add_measure(Measure::Subject::profile, 0, number, Origin::measured,
                         profile_.base_clock, value);
  };
  add(measure::stats_level, identity_.stats_level);
  add(measure::stats_batch_size, identity_.stats_batch_size);
  add(measure::program, identity_.program);
  add(measure::activation, identity_.activation);
  add(measure::inference, double(identity_.inference));
  for (std::uint32_t core = 0; core < network_.cores(); ++core) {
    measure_of(network_.core_unit(core), measure::physical_core, Origin::measured,
               double(identity_.first_core) + core);
  }
}

// A newer minor version may have more sections than this reader knows.
void StatsDecoding::note_unknown_sections() {
  for (const SectionEntry& entry : reader_.entries()) {
    const bool per_thread = entry.kind == stats_ops || entry.kind == stats_op_pmu;
    const bool known = entry.kind >= stats_identity && entry.kind <= stats_op_pmu &&
                       entry.key < (per_thread ? threads() : 1);
    if (known) continue;
    note(
        Severity::warning, entry.offset, entry.count,
        fmt::format("the section of kind {} key {} is not known; left out", entry.kind, entry.key));
  }
  if (identity_.pmu_counters > max_pmu_counters) {
    note(Severity::error, reader_.find(stats_identity)->offset, 1,
         fmt::format("{} PMU counters cannot be; {} are taken instead", identity_.pmu_counters,
                     max_pmu_counters));
  }
}

bool StatsDecoding::is_absurd(const StatsThread& thread) const {
  return thread.begin_ticks > thread.end_ticks || thread.end_ticks > last_tick_ ||
         thread.activation_ticks > last_tick_ || thread.begin_cycles > thread.end_cycles ||
         thread.end_cycles > max_ticks || thread.activation_cycles > max_ticks;
}

void StatsDecoding::read_threads() {
  ranges_.resize(threads(), {0, std::int64_t(last_tick_)});
  threads_ = usable<StatsThread>(stats_threads, "threads", threads());
  for (std::size_t key = 0; key < threads_.size(); ++key) {
    StatsThread& thread = threads_[key];
    if (is_absurd(thread)) {
      note(Severity::error, reader_.find(stats_threads)->offset + key * sizeof(StatsThread), 1,
           fmt::format("{} ends (tick {}) before it begins (tick {}) or has absurd times; left out",
                       thread_name(key), thread.end_ticks, thread.begin_ticks));
      thread = {};
      continue;
    }
    ranges_[key] = {std::int64_t(thread.begin_ticks), std::int64_t(thread.end_ticks)};
  }
}

}  // namespace npuscope::qaic
