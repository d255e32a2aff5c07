#include "npuscope/profile/profile.hpp"

#include "npuscope/profile/run_numbers.hpp"

namespace npuscope {

const char* name_of(Engine engine) {
  constexpr const char* names[] = {"unit",      "device",        "core", "HVX",     "HMX",
                                   "DMA issue", "DMA",           "host", "process", "thread",
                                   "compute",   "communication", "other"};
  return names[std::size_t(engine)];
}

void Spans::reserve(std::size_t rows) {
  unit.reserve(rows);
  op.reserve(rows);
  kind.reserve(rows);
  start.reserve(rows);
  duration.reserve(rows);
  processor_cycles.reserve(rows);
  instance.reserve(rows);
}

void Spans::resize(std::size_t rows) {
  unit.resize(rows);
  op.resize(rows);
  kind.resize(rows);
  start.resize(rows);
  duration.resize(rows);
  processor_cycles.resize(rows);
  instance.resize(rows);
}

const MeasureColumn* Spans::measure(StringId what) const {
  for (const MeasureColumn& column : measures) {
    if (column.what == what) return &column;
  }
  return nullptr;
}

const MeasureColumn* Spans::measure(NumberRole role) const {
  for (const MeasureColumn& column : measures) {
    if (column.meaning.role == role && column.values.size() == size()) return &column;
  }
  return nullptr;
}

MeasureColumn Profile::column_of(const NamedNumber& number, Origin origin, ClockId clock) {
  return {strings.intern(number.name), number.kind, origin, number.meaning, clock, {}};
}

void Profile::add_measure(Measure::Subject subject, std::uint32_t id, const NamedNumber& number,
                          Origin origin, ClockId clock, double value, std::uint32_t instance) {
  measures.push_back({subject, id, strings.intern(number.name), number.kind, origin, number.meaning,
                      clock, value, instance, number.event});
}

double OpSamples::total() const {
  double sum = 0;
  for (const Sample& entry : entries) sum += entry.value;
  return sum;
}

}  // namespace npuscope

template class std::vector<std::byte, npuscope::UnwrittenAllocator<std::byte>>;
template class std::vector<std::int64_t, npuscope::UnwrittenAllocator<std::int64_t>>;
template class std::vector<std::uint64_t, npuscope::UnwrittenAllocator<std::uint64_t>>;
template class std::vector<std::uint32_t, npuscope::UnwrittenAllocator<std::uint32_t>>;
template class std::vector<npuscope::UnitId, npuscope::UnwrittenAllocator<npuscope::UnitId>>;
template class std::vector<npuscope::OpId, npuscope::UnwrittenAllocator<npuscope::OpId>>;
template class std::vector<npuscope::SpanKind, npuscope::UnwrittenAllocator<npuscope::SpanKind>>;
