// Gates as people write them:
//
//   wall > +3%                    the median grew by more than 3 %
//   busy(HMX) < -5%               it fell by more than 5 %
//   wall > +1000cyc               it grew by more than 1,000 cycles (a sign: of the change)
//   wall > 5ms                    B is above 5 ms, whatever A is (no sign: of B itself)
//   op('MatMul').work > +2%       the work of all ops whose node or kernel matches
//   op('^attn/') >= +1%           the same in the column that decides (dominant path, else work)
//   'RPC (execute) time' > +10%   a number that the profile has of its run
//   latency.max > 5ms             no inference may take longer
//   share(DMA) > 10%              DMA works for more than a tenth of the wall
//
//   gate       = metric comparator limit
//   metric     = ( name | name "(" text ")" | "op(" quoted ")" [ "." ( name | quoted ) ] | quoted )
//                [ "." statistic ]
//   statistic  = "median" | "p50" | "p75" | "p90" | "p95" | "p99" | "min" | "max"
//   comparator = ">" | ">=" | "<" | "<="
//   limit      = [ "+" | "-" ] number ( "%" | "ns" | "us" | "ms" | "s" | "cyc" | "ticks" | "B" |
//                "kB" | "MB" | "GB" | "KiB" | "MiB" | "GiB" | nothing )
//
// Quotes are ' or ", without escapes; blanks around the parts do not matter. A percentage is of the
// change; of a share, without a sign, of the wall.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/analysis/gate.hpp"
#include "report/compare/judgement.hpp"

namespace npuscope::report {

// What the text says: when to fail, or, as a requirement, when to pass.
enum class GateForm : std::uint8_t { fail_if, require };

// A usage error that says what cannot be read; `where` begins it: a flag, or a file and line.
Result<analysis::Gate> read_gate(std::string_view text, GateForm form = GateForm::fail_if,
                                 std::string_view where = "--fail-if");

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
