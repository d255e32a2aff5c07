#include "npuscope/profile/profile.hpp"

namespace npuscope {

const char* name_of(Engine engine) {
  constexpr const char* names[] = {"unit", "device", "core",    "HVX",    "HMX",     "DMA issue",
                                   "DMA",  "host",   "process", "thread", "compute", "other"};
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

}  // namespace npuscope
