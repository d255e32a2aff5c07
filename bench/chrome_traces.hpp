// Chrome traces of any size for the benchmarks: as profilers write them, always the same bytes.
#pragma once

#include <cstdint>
#include <string>

namespace npuscope::bench {

enum class Flavour : std::uint8_t {
  with_args,     // 4 arguments an event, as profilers of deep learning frameworks write them
  without_args,  // the same without them
  optrace,       // QNN: 14 arguments, some of them lists
  opstats,       // Cloud AI 100: arguments that are all texts
};

// A whole trace of this many X events.
std::string chrome_trace(Flavour flavour, std::uint64_t events);

}  // namespace npuscope::bench
