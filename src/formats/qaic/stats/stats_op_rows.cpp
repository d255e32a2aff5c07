// Op records into span rows: the part of decoding that runs once per record. Two passes, first
// count, then write, so that every thread's rows have their place before any is written and
// threads are decoded in parallel.
#include <cstring>

#include "formats/qaic/stats/stats_op_rows.hpp"

namespace npuscope::qaic {
namespace {

StatsOp record_at(const OpSection& section, std::size_t index) {
  StatsOp record;
  std::memcpy(&record, section.records.data() + index * sizeof record, sizeof record);
  return record;
}

bool synced(const StatsOp& record) { return (record.position_and_flags & StatsOp::synced) != 0; }
bool barriered(const StatsOp& record) {
  return (record.position_and_flags & StatsOp::barriered) != 0;
}

// When the thread began with this record, and when it was through.
std::int64_t begin_of(const StatsOp& record) {
  return std::int64_t(record.start_ticks) - (synced(record) ? record.sync_ticks : 0);
}
std::int64_t end_of(const StatsOp& record) {
  return std::int64_t(record.start_ticks) + record.kernel_ticks +
         (barriered(record) ? record.barrier_ticks : 0);
}

// `previous_end` is the end of the last good record.
RecordFault fault_of(const StatsOp& record, std::size_t index, const OpSection& section,
                     std::int64_t previous_end) {
  if ((record.position_and_flags & StatsOp::written) == 0) return RecordFault::unwritten;
  if (record.position() != index || index >= section.listed) return RecordFault::position;
  if (record.start_ticks > max_ticks || end_of(record) > section.range.end) {
    return RecordFault::past_end;
  }
  if (begin_of(record) < previous_end) return RecordFault::out_of_order;
  return RecordFault::none;
}

// Where the next row of a thread goes.
class RowWriter {
 public:
  RowWriter(Spans& spans, std::size_t row, std::uint32_t instance)
      : unit_(spans.unit.data() + row),
        op_(spans.op.data() + row),
        kind_(spans.kind.data() + row),
        start_(spans.start.data() + row),
        duration_(spans.duration.data() + row),
        cycles_(spans.processor_cycles.data() + row),
        instance_(spans.instance.data() + row),
        inference_(instance) {}

  void add(UnitId unit, OpId op, SpanKind kind, std::int64_t start, std::int64_t duration,
           std::int64_t cycles) {
    *unit_++ = unit;
    *op_++ = op;
    *kind_++ = kind;
    *start_++ = start;
    *duration_++ = duration;
    *cycles_++ = cycles;
    *instance_++ = inference_;
  }

 private:
  UnitId* unit_;
  OpId* op_;
  SpanKind* kind_;
  std::int64_t* start_;
  std::int64_t* duration_;
  std::int64_t* cycles_;
  std::uint32_t* instance_;
  std::uint32_t inference_;
};

void write_record(const OpSection& section, const StatsOp& record, RowWriter& rows) {
  const OpId op{index_of(section.first_op) + record.position()};
  const auto start = std::int64_t(record.start_ticks);
  if (synced(record)) {
    rows.add(section.unit, op, SpanKind::sync, start - record.sync_ticks, record.sync_ticks, -1);
  }
  rows.add(section.unit, op, SpanKind::op, start, record.kernel_ticks, record.cycles);
  if (barriered(record)) {
    rows.add(section.unit, op, SpanKind::barrier, start + record.kernel_ticks, record.barrier_ticks,
             -1);
  }
  if (record.transfer_ticks > 0) {
    rows.add(section.transfer_unit, op, SpanKind::transfer, start, record.transfer_ticks, -1);
  }
}

}  // namespace

OpSectionCount count_rows(const OpSection& section) {
  OpSectionCount count;
  std::int64_t previous_end = section.range.begin;
  for (std::size_t index = 0; index < section.size(); ++index) {
    const StatsOp record = record_at(section, index);
    const RecordFault fault = fault_of(record, index, section, previous_end);
    if (fault != RecordFault::none) {
      if (count.faults[std::size_t(fault)]++ == 0) count.first_fault[std::size_t(fault)] = index;
      continue;
    }
    previous_end = end_of(record);
    count.ops += 1;
    count.syncs += synced(record);
    count.barriers += barriered(record);
    count.transfers += record.transfer_ticks > 0;
  }
  return count;
}

void write_rows(const OpSection& section, const OpSectionCount& count, std::uint32_t instance,
                Spans& spans, std::size_t first_row) {
  RowWriter rows(spans, first_row, instance);
  if (count.faultless(section.size())) {
    for (std::size_t index = 0; index < section.size(); ++index) {
      write_record(section, record_at(section, index), rows);
    }
    return;
  }
  std::int64_t previous_end = section.range.begin;
  for (std::size_t index = 0; index < section.size(); ++index) {
    const StatsOp record = record_at(section, index);
    if (fault_of(record, index, section, previous_end) != RecordFault::none) continue;
    previous_end = end_of(record);
    write_record(section, record, rows);
  }
}

}  // namespace npuscope::qaic
