// How one buffer of npuscope's own layout becomes a profile. What is damaged is noted and left out.
//
//   stats_decoding.cpp         which program wrote it, its clock, its threads; operators; 32-bit
//                              counters, of operators and of threads
//   stats_decoding_units.cpp   inferences, DDR and ports, on the units of hardware
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sections.hpp"
#include "formats/qaic/stats/stats_buffer.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"
#include "formats/qaic/stats/stats_op_rows.hpp"
#include "profile/pmu_events.hpp"
#include "profile/shared_numbers.hpp"

namespace npuscope::qaic {

// A member per kind of section.
class StatsDecoding {
 public:
  StatsDecoding(const SectionReader& reader, const std::string& file, const StatsNetwork& network,
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
  void measure_of(UnitId unit, const NamedNumber& number, Origin origin, double value) {
    profile_.add_measure(Measure::Subject::unit, index_of(unit), number, origin,
                         profile_.base_clock, value);
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
  std::uint64_t last_tick_ = max_ticks;        // that can be meant, at the timer's rate
  std::vector<StatsThread> threads_;           // empty when unusable
  std::vector<TickRange> ranges_;              // by core * threads + thread
  std::vector<const SectionEntry*> op_entry_;  // by the same, null when missing
  std::vector<std::uint8_t> op_intact_;        // by the same, whether its checksum matches
  std::vector<OpSection> op_sections_;
  std::vector<std::optional<std::size_t>> first_counter_;  // in Profile::measures, by thread
  std::uint64_t unwrapped_ = 0;                            // counters of threads
  std::vector<std::size_t> row_begin_;  // of each op section, and one past the last
};

// The records of a section that occurs once; none, with a note, when it is damaged or missing.
template <class Record>
std::vector<Record> StatsDecoding::usable(std::uint32_t kind, std::string_view what,
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

}  // namespace npuscope::qaic
