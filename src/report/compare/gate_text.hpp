// Gates as people write them:
//
//   wall > +3%                    the median grew by more than 3 %
//   busy(HMX) < -5%               it fell by more than 5 %
//   wall > +1000cyc               it grew by more than 1,000 cycles (a sign: of the change)
//   wall > 5ms                    B is above 5 ms, whatever A is (no sign: of B itself)
//   op('MatMul').work > +2%       the work of all ops whose node or kernel matches
//   op('^attn/') >= +1%           the same in the column that decides (dominant path, else work)
//   'RPC (execute) time' > +10%   a number that the profile has of its run
//
//   gate       = metric comparator limit
//   metric     = name | name "(" text ")" | "op(" quoted ")" [ "." ( name | quoted ) ] | quoted
//   comparator = ">" | ">=" | "<" | "<="
//   limit      = [ "+" | "-" ] number ( "%" | "ns" | "us" | "ms" | "s" | "cyc" | "ticks" | "B" |
//                "KiB" | "MiB" | "GiB" | nothing )
//
// Quotes are ' or ", without escapes; blanks around the parts do not matter. A percentage is always
// of the change.
#pragma once

#include <string_view>

#include "npuscope/analysis/gate.hpp"

namespace npuscope::report {

// A usage error that says what cannot be read.
Result<analysis::Gate> read_gate(std::string_view text);

}  // namespace npuscope::report
