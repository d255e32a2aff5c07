// The op records of a raw statistics buffer as spans, a thread's section at a time, so that all go
// at once:
//
//   const OpSectionCount count = count_rows(section);            // how many rows, what is wrong
//   write_rows(section, count, inference, spans, first_row);     // into spans that are that large
#pragma once

#include <array>
#include <cstdint>

#include "formats/qaic/limits.hpp"
#include "formats/qaic/stats/stats_buffer.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::qaic {

// Times are bound further than max_ticks by the timer's rate, so that they fit 64 bits in
// nanoseconds.
inline constexpr std::uint64_t max_seconds = 2'000'000'000;  // 63 years

// What the records of a thread must stay within.
struct TickRange {
  std::int64_t begin = 0;
  std::int64_t end = std::int64_t(max_ticks);
};

// The op records of one thread, and where they go.
struct OpSection {
  ByteSpan records;          // StatsOp each
  std::uint64_t offset = 0;  // of the first, in the file
  TickRange range;
  std::uint32_t listed = 0;  // ops of the thread's group in the descriptor
  OpId first_op{};
  UnitId unit{};
  UnitId transfer_unit = UnitId::none;

  std::size_t size() const { return records.size() / sizeof(StatsOp); }
};

// Why a record cannot be used.
enum class RecordFault : std::uint8_t { none, unwritten, position, past_end, out_of_order };
inline constexpr std::size_t record_faults = 5;

struct OpSectionCount {
  std::size_t ops = 0;
  std::size_t syncs = 0;
  std::size_t barriers = 0;
  std::size_t transfers = 0;
  std::array<std::uint64_t, record_faults> faults{};       // by RecordFault
  std::array<std::uint64_t, record_faults> first_fault{};  // index of its first record

  std::size_t rows() const { return ops + syncs + barriers + transfers; }
  bool faultless(std::size_t records) const { return ops == records; }
};

OpSectionCount count_rows(const OpSection& section);

// Writes the rows that `count` announced from `first_row` on; the spans are already that large.
void write_rows(const OpSection& section, const OpSectionCount& count, std::uint32_t instance,
                Spans& spans, std::size_t first_row);

}  // namespace npuscope::qaic
