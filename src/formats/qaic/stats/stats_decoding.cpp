#include "formats/qaic/stats/stats_decoding.hpp"

#include <cstring>

#include "base/parallel.hpp"
#include "base/try.hpp"

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
  TRY_AS(records, reader_.records<StatsIdentity>(*entry));
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

namespace {

constexpr std::uint64_t counter_range = std::uint64_t{1} << 32;

}  // namespace

// Level 100: the counters of each op, on the op's span.
void StatsDecoding::add_op_pmu() {
  if (identity_.stats_level < 100 || pmu_counters() == 0) return;
  const std::vector<const SectionEntry*> entries = entries_per_thread(stats_op_pmu);
  for (std::size_t key = 0; key < op_sections_.size(); ++key) {
    // A section without records is noted already, or there was nothing to count.
    if (!op_sections_[key].records.empty()) add_op_pmu(entries[key], key);
  }
}

void StatsDecoding::add_op_pmu(const SectionEntry* entry, std::size_t key) {
  const OpSection& section = op_sections_[key];
  if (entry == nullptr) {
    return note(Severity::error, 0, section.size(),
                fmt::format("the section of {}'s operator counters is missing", thread_name(key)));
  }
  if (entry->record_size != sizeof(StatsOpPmu) || entry->count != section.size() ||
      !reader_.intact(*entry)) {
    return note(Severity::error, entry->offset, entry->count,
                fmt::format("the section of {}'s operator counters is damaged; left out",
                            thread_name(key)));
  }
  constexpr Meaning pmu_count = pmu_number(0, "").meaning;
  std::vector<StringId> names;
  for (std::size_t counter = 0; counter < pmu_counters(); ++counter) {
    names.push_back(profile_.strings.intern(measure::pmu(identity_.pmu_events[counter])));
  }
  const ByteSpan bytes = reader_.bytes(*entry);
  std::array<std::uint64_t, max_pmu_counters> of_ops{};
  for (std::size_t row = row_begin_[key]; row < row_begin_[key + 1]; ++row) {
    if (profile_.spans.kind[row] != SpanKind::op) continue;
    const std::size_t position = index_of(profile_.spans.op[row]) - index_of(section.first_op);
    StatsOpPmu record;
    std::memcpy(&record, bytes.data() + position * sizeof record, sizeof record);
    for (std::size_t counter = 0; counter < names.size(); ++counter) {
      profile_.measures.push_back({Measure::Subject::span, std::uint32_t(row), names[counter],
                                   MeasureKind::count, Origin::counter, pmu_count,
                                   profile_.base_clock, double(record.counts[counter]),
                                   every_instance, identity_.pmu_events[counter]});
      of_ops[counter] += record.counts[counter];
    }
  }
  unwrap_counters(key, of_ops);
}

// A thread's counter has counted at least what its ops did, and is known but for whole rounds.
void StatsDecoding::unwrap_counters(std::size_t key,
                                    const std::array<std::uint64_t, max_pmu_counters>& of_ops) {
  if (key >= first_counter_.size() || !first_counter_[key]) return;
  for (std::size_t counter = 0; counter < pmu_counters(); ++counter) {
    const std::uint64_t read = threads_[key].pmu[counter];
    if (of_ops[counter] <= read) continue;
    const std::uint64_t rounds = (of_ops[counter] - read + counter_range - 1) / counter_range;
    profile_.measures[*first_counter_[key] + counter].value = double(read + rounds * counter_range);
    ++unwrapped_;
  }
}

void StatsDecoding::note_wrapped_counters() {
  if (unwrapped_ > 0) {
    note(Severity::info, 0, unwrapped_,
         "32-bit counters of threads had wrapped; the counts of their operators say how often");
  }
  if (pmu_counters() == 0 || identity_.stats_level >= 100) return;
  const auto too_long = [](const StatsThread& thread) {
    return thread.end_ticks != 0 && thread.end_cycles - thread.begin_cycles >= counter_range;
  };
  const auto count = std::count_if(threads_.begin(), threads_.end(), too_long);
  if (count == 0) return;
  note(Severity::warning, 0, std::uint64_t(count),
       "threads ran for more cycles than a 32-bit counter can count: their counters may have "
       "wrapped; compile with -stats-level=100, which counts operator by operator");
}

OpSection StatsDecoding::op_section(std::uint32_t core, std::uint32_t thread) {
  const std::size_t key = std::size_t{core} * network_.threads_per_core() + thread;
  OpSection section;
  section.listed = network_.op_count(core, thread);
  section.first_op = network_.first_op(core, thread);
  section.unit = network_.thread_unit(core, thread);
  section.range = ranges_[key];
  const SectionEntry* entry = op_entry_[key];
  if (entry == nullptr) {
    if (section.listed > 0) {
      note(Severity::error, 0, section.listed,
           fmt::format("the section of {}'s operators is missing", thread_name(key)));
    }
    return section;
  }
  section.offset = entry->offset;
  if (entry->record_size != sizeof(StatsOp) || !op_intact_[key]) {
    note(Severity::error, entry->offset, entry->count,
         fmt::format("the section of {}'s operators is damaged (its checksum does not match or its "
                     "records have {} bytes); left out",
                     thread_name(key), entry->record_size));
    return section;
  }
  section.records = reader_.bytes(*entry);
  if (entry->count < section.listed) {
    note(Severity::error, entry->offset, section.listed - entry->count,
         fmt::format("{} has records of {} operators, {} are listed", thread_name(key),
                     entry->count, section.listed));
  }
  return section;
}

UnitId StatsDecoding::transfer_unit(const OpSection& section) {
  const Unit thread = profile_.units[index_of(section.unit)];
  const auto name = fmt::format("{}_DMA", profile_.text(thread.name));
  profile_.units.push_back({thread.device, thread.core, Engine::dma, thread.lane,
                            profile_.strings.intern(name), section.unit});
  return UnitId(profile_.units.size() - 1);
}

void StatsDecoding::note_faults(const OpSection& section, const OpSectionCount& count) {
  constexpr std::array<std::string_view, record_faults> what{
      "", "were never written", "are out of place (their position is not their index)",
      "end after their thread does", "begin before their predecessor has ended"};
  const Unit& unit = profile_.units[index_of(section.unit)];
  for (std::size_t fault = 1; fault < record_faults; ++fault) {
    if (count.faults[fault] == 0) continue;
    note(Severity::error, section.offset + count.first_fault[fault] * sizeof(StatsOp),
         count.faults[fault],
         fmt::format("{} of {} operator records of core {} thread {} {}; left out",
                     count.faults[fault], section.size(), unit.core, unit.lane, what[fault]));
  }
}

// By core * threads + thread, null when missing; one pass, as there may be thousands.
std::vector<const SectionEntry*> StatsDecoding::entries_per_thread(std::uint32_t kind) const {
  std::vector<const SectionEntry*> found(threads(), nullptr);
  for (const SectionEntry& entry : reader_.entries()) {
    if (entry.kind == kind && entry.key < found.size()) found[entry.key] = &entry;
  }
  return found;
}

void StatsDecoding::add_ops() {
  if (identity_.stats_level < 50) return;
  op_entry_ = entries_per_thread(stats_ops);
  op_intact_.assign(threads(), 0);
  parallel_for(threads(), [&](std::size_t key) {
    op_intact_[key] = op_entry_[key] != nullptr && reader_.intact(*op_entry_[key]);
  });
  for (std::uint32_t core = 0; core < network_.cores(); ++core) {
    for (std::uint32_t thread = 0; thread < network_.threads_per_core(); ++thread) {
      op_sections_.push_back(op_section(core, thread));
    }
  }
  std::vector<OpSectionCount> counts(op_sections_.size());
  parallel_for(counts.size(), [&](std::size_t i) { counts[i] = count_rows(op_sections_[i]); });
  row_begin_.assign(1, profile_.spans.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    note_faults(op_sections_[i], counts[i]);
    if (counts[i].transfers > 0) op_sections_[i].transfer_unit = transfer_unit(op_sections_[i]);
    row_begin_.push_back(row_begin_.back() + counts[i].rows());
  }
  // Room for the inferences and activations as well, which follow.
  profile_.spans.reserve(row_begin_.back() + 2 * threads() + network_.cores() + 1);
  profile_.spans.resize(row_begin_.back());
  parallel_for(counts.size(), [&](std::size_t i) {
    write_rows(op_sections_[i], counts[i], std::uint32_t(identity_.inference), profile_.spans,
               row_begin_[i]);
  });
}

}  // namespace npuscope::qaic
