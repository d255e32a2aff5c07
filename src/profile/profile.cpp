#include "npuscope/profile/profile.hpp"

namespace npuscope {

void Spans::resize(std::size_t rows) {
  unit.resize(rows);
  op.resize(rows);
  kind.resize(rows);
  start.resize(rows);
  duration.resize(rows);
  processor_cycles.resize(rows);
  instance.resize(rows);
}

}  // namespace npuscope
