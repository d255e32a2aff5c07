#include "formats/qaic/stats/stats_decoding.hpp"

#include <cstring>

namespace npuscope::qaic {

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

}  // namespace npuscope::qaic
