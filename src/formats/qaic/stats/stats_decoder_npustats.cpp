#include "formats/qaic/stats/stats_decoder_npustats.hpp"

#include <algorithm>
#include <array>

#include "npuscope/base/parallel.hpp"
#include "npuscope/base/text.hpp"

namespace npuscope::qaic {
namespace {

// Below this a timer cannot be what the format says; conversions would overflow.
constexpr std::uint32_t slowest_utimer_khz = 1000;
constexpr std::uint32_t fastest_utimer_khz = 10'000'000;
constexpr std::size_t no_counter = ~std::size_t{0};
constexpr std::uint64_t counter_range = std::uint64_t{1} << 32;

// Decodes one buffer; a member per kind of section.
class Decoding {
 public:
  Decoding(const SectionReader& reader, const std::string& file, const StatsNetwork& network,
           Profile& profile)
      : reader_(reader), file_(file), network_(network), profile_(profile) {}

  Status run();

 private:
  Status read_identity();
  Status check_identity() const;
  void set_clock();
  void add_profile_measures();
  void note_unknown_sections();
  bool is_absurd(const StatsThread& thread) const;
  void read_threads();
  void add_ops();
  void add_inferences();
  void add_core_inference(std::uint32_t core);
  void add_ddr();
  void add_ports();
  void add_op_pmu();
  void add_op_pmu(const SectionEntry* entry, std::size_t key);
  void unwrap_counters(std::size_t key, const std::array<std::uint64_t, max_pmu_counters>& of_ops);
  void note_wrapped_counters();
  std::vector<const SectionEntry*> entries_per_thread(std::uint32_t kind) const;

  template <class Record>
  std::vector<Record> usable(std::uint32_t kind, std::string_view what, std::uint64_t expected);
  OpSection op_section(std::uint32_t core, std::uint32_t thread);
  UnitId transfer_unit(const OpSection& section);
  void note_faults(const OpSection& section, const OpSectionCount& count);
  void note(Severity severity, std::uint64_t offset, std::uint64_t count, std::string message) {
    profile_.notes.push_back({severity, file_, offset, std::move(message), count});
  }
  void measure_of(UnitId unit, std::string_view what, MeasureKind kind, Origin origin,
                  double value) {
    profile_.measures.push_back({Measure::Subject::unit, index_of(unit),
                                 profile_.strings.intern(what), kind, origin, profile_.base_clock,
                                 value});
  }
  void add_span(UnitId unit, SpanKind kind, std::int64_t start, std::int64_t duration,
                std::int64_t cycles);
  std::size_t threads() const {
    return std::size_t{network_.cores()} * network_.threads_per_core();
  }
  std::string thread_name(std::size_t key) const {
    return fmt::format("core {} thread {}", key / network_.threads_per_core(),
                       key % network_.threads_per_core());
  }
  std::size_t pmu_counters() const { return std::min(identity_.pmu_counters, max_pmu_counters); }

  const SectionReader& reader_;
  const std::string& file_;
  const StatsNetwork& network_;
  Profile& profile_;
  StatsIdentity identity_;
  std::optional<std::int64_t> begin_;          // of the inference, where a thread is usable
  std::uint64_t last_tick_ = most_ticks;       // that can be meant, at the timer's rate
  std::vector<StatsThread> threads_;           // empty when unusable
  std::vector<TickRange> ranges_;              // by core * threads + thread
  std::vector<const SectionEntry*> op_entry_;  // by the same, null when missing
  std::vector<std::uint8_t> op_intact_;        // by the same, whether its checksum matches
  std::vector<OpSection> op_sections_;
  std::vector<std::size_t> first_counter_;  // in Profile::measures, by thread; none: not read
  std::uint64_t unwrapped_ = 0;             // counters of threads
  std::vector<std::size_t> row_begin_;      // of each op section, and one past the last
};

Status Decoding::run() {
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

Status Decoding::read_identity() {
  const SectionEntry* entry = reader_.find(stats_identity);
  if (entry == nullptr || entry->count != 1) {
    return input_error("{}: does not say which program wrote it; copy the file again", file_);
  }
  const auto records = reader_.records<StatsIdentity>(*entry);
  if (!records) return tl::unexpected(records.error());
  identity_ = records->front();
  return {};
}

Status Decoding::check_identity() const {
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

void Decoding::set_clock() {
  std::uint32_t khz = identity_.utimer_khz;
  if (khz < slowest_utimer_khz || khz > fastest_utimer_khz) {
    note(Severity::error, reader_.find(stats_identity)->offset, 1,
         fmt::format("a timer of {} kHz cannot be; 19,200 kHz is taken instead", khz));
    khz = 19200;
  }
  profile_.clocks[index_of(profile_.base_clock)].rate = Hertz{khz * 1e3};
  last_tick_ = std::min(most_ticks, most_seconds * 1000 * khz);
  for (Unit& unit : profile_.units) unit.device = identity_.device;
}

void Decoding::add_profile_measures() {
  const auto add = [&](std::string_view what, double value) {
    profile_.measures.push_back({Measure::Subject::profile, 0, profile_.strings.intern(what),
                                 MeasureKind::count, Origin::measured, profile_.base_clock, value});
  };
  add(measure::stats_level, identity_.stats_level);
  add(measure::stats_batch_size, identity_.stats_batch_size);
  add(measure::program, identity_.program);
  add(measure::activation, identity_.activation);
  add(measure::inference, double(identity_.inference));
  for (std::uint32_t core = 0; core < network_.cores(); ++core) {
    measure_of(network_.core_unit(core), measure::physical_core, MeasureKind::count,
               Origin::measured, double(identity_.first_core) + core);
  }
}

// A newer minor version may have more sections than this reader knows.
void Decoding::note_unknown_sections() {
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

// The records of a section that occurs once; none, with a note, when it is damaged or missing.
template <class Record>
std::vector<Record> Decoding::usable(std::uint32_t kind, std::string_view what,
                                     std::uint64_t expected) {
  const SectionEntry* entry = reader_.find(kind);
  if (entry == nullptr) {
    note(Severity::error, 0, 1, fmt::format("the section of {} is missing", what));
    return {};
  }
  if (entry->record_size != sizeof(Record) || (expected > 0 && entry->count != expected)) {
    note(Severity::error, entry->offset, entry->count,
         fmt::format("the section of {} has {} records of {} bytes, expected {} of {}; left out",
                     what, entry->count, entry->record_size, expected, sizeof(Record)));
    return {};
  }
  if (!reader_.intact(*entry)) {
    note(Severity::error, entry->offset, entry->count,
         fmt::format("the section of {} is damaged (its checksum does not match); left out", what));
    return {};
  }
  return std::move(*reader_.records<Record>(*entry));
}

bool Decoding::is_absurd(const StatsThread& thread) const {
  return thread.begin_ticks > thread.end_ticks || thread.end_ticks > last_tick_ ||
         thread.activation_ticks > last_tick_ || thread.begin_cycles > thread.end_cycles ||
         thread.end_cycles > most_ticks || thread.activation_cycles > most_ticks;
}

void Decoding::read_threads() {
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

OpSection Decoding::op_section(std::uint32_t core, std::uint32_t thread) {
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

UnitId Decoding::transfer_unit(const OpSection& section) {
  const Unit thread = profile_.units[index_of(section.unit)];
  const auto name = fmt::format("{}_DMA", profile_.text(thread.name));
  profile_.units.push_back({thread.device, thread.core, Engine::dma, thread.lane,
                            profile_.strings.intern(name), section.unit});
  return UnitId(profile_.units.size() - 1);
}

void Decoding::note_faults(const OpSection& section, const OpSectionCount& count) {
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
std::vector<const SectionEntry*> Decoding::entries_per_thread(std::uint32_t kind) const {
  std::vector<const SectionEntry*> found(threads(), nullptr);
  for (const SectionEntry& entry : reader_.entries()) {
    if (entry.kind == kind && entry.key < found.size()) found[entry.key] = &entry;
  }
  return found;
}

void Decoding::add_ops() {
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

void Decoding::add_span(UnitId unit, SpanKind kind, std::int64_t start, std::int64_t duration,
                        std::int64_t cycles) {
  Spans& spans = profile_.spans;
  spans.unit.push_back(unit);
  spans.op.push_back(OpId::none);
  spans.kind.push_back(kind);
  spans.start.push_back(start);
  spans.duration.push_back(duration);
  spans.processor_cycles.push_back(cycles);
  spans.instance.push_back(std::uint32_t(identity_.inference));
}

void Decoding::add_inferences() {
  first_counter_.assign(threads_.size(), no_counter);
  for (std::size_t key = 0; key < threads_.size(); ++key) {
    const StatsThread& thread = threads_[key];
    if (thread.end_ticks == 0) continue;
    const auto unit = network_.thread_unit(std::uint32_t(key / network_.threads_per_core()),
                                           std::uint32_t(key % network_.threads_per_core()));
    const auto begin = std::int64_t(thread.begin_ticks);
    const auto activation = std::int64_t(thread.activation_ticks);
    add_span(unit, SpanKind::inference, begin, std::int64_t(thread.end_ticks) - begin,
             std::int64_t(thread.end_cycles - thread.begin_cycles));
    add_span(unit, SpanKind::activation, begin - activation, activation,
             std::int64_t(thread.activation_cycles));
    first_counter_[key] = profile_.measures.size();
    for (std::size_t counter = 0; counter < pmu_counters(); ++counter) {
      measure_of(unit, measure::pmu(identity_.pmu_events[counter]), MeasureKind::count,
                 Origin::counter, thread.pmu[counter]);
    }
  }
  std::int64_t begin = std::int64_t(most_ticks);
  std::int64_t end = -1;
  for (std::uint32_t core = 0; core < network_.cores(); ++core) add_core_inference(core);
  for (const StatsThread& thread : threads_) {
    if (thread.end_ticks == 0) continue;
    begin = std::min(begin, std::int64_t(thread.begin_ticks));
    end = std::max(end, std::int64_t(thread.end_ticks));
  }
  if (end < 0) return;
  begin_ = begin;
  add_span(network_.device_unit(), SpanKind::inference, begin, end - begin, -1);
}

// From the first thread's begin to the last thread's end, in ticks and in the core's own cycles.
void Decoding::add_core_inference(std::uint32_t core) {
  StatsThread whole;
  bool any = false;
  for (std::uint32_t i = 0; i < network_.threads_per_core() && !threads_.empty(); ++i) {
    const StatsThread& thread = threads_[std::size_t{core} * network_.threads_per_core() + i];
    if (thread.end_ticks == 0) continue;
    whole.begin_ticks = any ? std::min(whole.begin_ticks, thread.begin_ticks) : thread.begin_ticks;
    whole.begin_cycles =
        any ? std::min(whole.begin_cycles, thread.begin_cycles) : thread.begin_cycles;
    whole.end_ticks = std::max(whole.end_ticks, thread.end_ticks);
    whole.end_cycles = std::max(whole.end_cycles, thread.end_cycles);
    any = true;
  }
  if (!any) return;
  add_span(network_.core_unit(core), SpanKind::inference, std::int64_t(whole.begin_ticks),
           std::int64_t(whole.end_ticks - whole.begin_ticks),
           std::int64_t(whole.end_cycles - whole.begin_cycles));
}

void Decoding::add_ddr() {
  if (reader_.find(stats_cores) == nullptr) return;  // only with -ddr-stats
  const auto cores = usable<StatsCore>(stats_cores, "cores", network_.cores());
  for (std::uint32_t core = 0; core < cores.size(); ++core) {
    const UnitId unit = network_.core_unit(core);
    measure_of(unit, measure::ddr_read, MeasureKind::count, Origin::counter,
               double(cores[core].ddr_read_bytes));
    measure_of(unit, measure::ddr_write, MeasureKind::count, Origin::counter,
               double(cores[core].ddr_write_bytes));
  }
}

void Decoding::add_ports() {
  if (identity_.stats_level < 50) return;
  const auto ports = usable<StatsPort>(stats_ports, "ports", 0);
  std::uint64_t unknown = 0;
  for (const StatsPort& port : ports) {
    if (port.core >= network_.cores() || port.thread >= network_.threads_per_core() ||
        port.wait_ticks > last_tick_ || port.doorbell_ticks > last_tick_) {
      unknown += 1;
      continue;
    }
    const UnitId unit = network_.thread_unit(port.core, port.thread);
    measure_of(unit, measure::port_wait(port.port), MeasureKind::active, Origin::measured,
               double(port.wait_ticks));
    if (port.doorbell_ticks > 0 && begin_) {
      // A moment by itself is no length of time.
      measure_of(unit, measure::port_doorbell(port.port), MeasureKind::wall, Origin::measured,
                 double(port.doorbell_ticks) - double(*begin_));
    }
  }
  if (unknown > 0) {
    note(Severity::error, reader_.find(stats_ports)->offset, unknown,
         fmt::format("{} port records name a core or thread that is not there, or have absurd "
                     "times; left out",
                     unknown));
  }
}

// Level 100: the counters of each op, on the op's span.
void Decoding::add_op_pmu() {
  if (identity_.stats_level < 100 || pmu_counters() == 0) return;
  const std::vector<const SectionEntry*> entries = entries_per_thread(stats_op_pmu);
  for (std::size_t key = 0; key < op_sections_.size(); ++key) {
    // A section without records is noted already, or there was nothing to count.
    if (!op_sections_[key].records.empty()) add_op_pmu(entries[key], key);
  }
}

void Decoding::add_op_pmu(const SectionEntry* entry, std::size_t key) {
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
                                   MeasureKind::count, Origin::counter, profile_.base_clock,
                                   double(record.counts[counter])});
      of_ops[counter] += record.counts[counter];
    }
  }
  unwrap_counters(key, of_ops);
}

// A thread's counter has counted at least what its ops did, and is known but for whole rounds.
void Decoding::unwrap_counters(std::size_t key,
                               const std::array<std::uint64_t, max_pmu_counters>& of_ops) {
  if (key >= first_counter_.size() || first_counter_[key] == no_counter) return;
  for (std::size_t counter = 0; counter < pmu_counters(); ++counter) {
    const std::uint64_t read = threads_[key].pmu[counter];
    if (of_ops[counter] <= read) continue;
    const std::uint64_t rounds = (of_ops[counter] - read + counter_range - 1) / counter_range;
    profile_.measures[first_counter_[key] + counter].value = double(read + rounds * counter_range);
    ++unwrapped_;
  }
}

void Decoding::note_wrapped_counters() {
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

}  // namespace

bool NpuStatsDecoder::recognises(ByteSpan bytes) const {
  return as_text(bytes).starts_with(stats_magic);
}

std::optional<std::string> NpuStatsDecoder::network_name(ByteSpan bytes) const {
  const auto reader = SectionReader::open(bytes, stats_magic, stats_version.major, "buffer");
  if (!reader) return std::nullopt;
  const SectionEntry* entry = reader->find(stats_network);
  if (entry == nullptr || !reader->intact(*entry)) return std::nullopt;
  return std::string(reader->text(*entry));
}

Status NpuStatsDecoder::decode(ByteSpan bytes, const std::string& file, const StatsNetwork& network,
                               Profile& profile) const {
  const auto reader = SectionReader::open(bytes, stats_magic, stats_version.major, file);
  if (!reader) return tl::unexpected(reader.error());
  return Decoding(*reader, file, network, profile).run();
}

}  // namespace npuscope::qaic
