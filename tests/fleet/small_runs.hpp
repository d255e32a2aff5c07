// Small runs by hand.
//
//   profile_of({.number = 3, .work = {10, 20, 30}})
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/profile_builder.hpp"

namespace npuscope::fleet {

// 32 hexadecimal digits.
inline std::string content(std::uint64_t number) {
  return fmt::format("{:016x}{:016x}", number << 1, 7);
}

// An inference of two ops on two units, each inference 1,000 ticks after the one before.
struct SmallRun {
  std::uint64_t number = 1;
  std::vector<std::string> labels = {};
  std::vector<std::int64_t> work = {10, 20, 30};  // of the op "a", by inference
  double hertz = 1e6;
  bool damaged = false;
  std::string kernel = "conv";  // of "a"
};

inline Profile profile_of(const SmallRun& run) {
  test_support::ProfileBuilder made("timer", ClockKind::timer, run.hertz);
  const UnitId hmx = made.unit("HMX", Engine::hmx), dma = made.unit("DMA", Engine::dma);
  for (std::size_t i = 0; i < run.work.size(); ++i) {
    const auto begin = std::int64_t(1'000 * i);
    made.span(hmx, "a", begin, begin + run.work[i], SpanKind::op, run.kernel);
    made.span(dma, "b", begin + 5, begin + 9, SpanKind::transfer, "copy");
    made.span(hmx, "a", begin + run.work[i], begin + run.work[i] + 3, SpanKind::sync, run.kernel);
    for (int span = 0; span < 3; ++span) made.profile.spans.instance.push_back(std::uint32_t(i));
  }
  made.profile.provenance.files = {fmt::format("run{}.json", run.number)};
  made.profile.provenance.format = "hand-made";
  made.profile.provenance.graph = "net";
  if (run.damaged) {
    made.profile.notes.push_back({Severity::error, "run.json", 17, "the file ends here", 3});
  }
  return std::move(made.profile);
}

}  // namespace npuscope::fleet
