// Gates in a file, with comments:
//
//   inconclusive = "warn"            # of gates that do not say themselves; else fail
//
//   [[gate]]
//   name = "frame budget"            # in annotations; else the gate itself
//   require = "latency.p95 < 33 ms"  # it must hold
//   reason = "30 frames a second"
//
//   [[gate]]
//   fail_if = "ddr_read_bytes > 20 MB"  # it must not
//   inconclusive = "fail"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/compare/judgement.hpp"

namespace npuscope::report {

struct GateFile {
  struct Entry {
    analysis::Gate gate;
    std::optional<Inconclusive> inconclusive;  // as the gate says itself
  };
  std::vector<Entry> gates;
  std::optional<Inconclusive> inconclusive;  // of those that do not say
};

// A usage error that names file and line.
Result<GateFile> read_gate_file(std::string_view text, const std::string& file);

}  // namespace npuscope::report
