// Who owns each cycle of an optrace, by the rule that QHAS follows: at every instant the running
// instance with the best (class, tid, start), where HMX ops are class 0, HVX ops 1, all others 2.
// Nobody running is idle. It says nothing about dependencies.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/qnn/write/write.hpp"

namespace npuscope::qnn::optrace {

struct OwnedSegment {
  std::uint32_t instance = 0;
  std::uint64_t start_cycle = 0;
  std::uint64_t end_cycle = 0;
};

struct IdleGap {
  std::uint64_t start_cycle = 0;
  std::uint64_t end_cycle = 0;
};

struct DominantPath {
  std::vector<std::uint64_t> owned;    // cycles, by instance
  std::vector<OwnedSegment> segments;  // in order of time; one instance may have several
  std::vector<IdleGap> idle;           // in order of time
  std::uint64_t start_cycle = 0;       // first start
  std::uint64_t end_cycle = 0;         // last end
  std::uint64_t total = 0;             // sum of owned
  std::uint64_t total_idle = 0;        // total + total_idle = end - start
};

// The set has at least one instance.
DominantPath dominant_path_of(const OptraceSet& set);

}  // namespace npuscope::qnn::optrace
