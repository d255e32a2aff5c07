#include "base/parallel.hpp"
#include "formats/qaic/stats/stats_decoding.hpp"

namespace npuscope::qaic {

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
