// A multi-device program: one Program per device, which exchange data through peer transfers. The
// devices begin an inference together and end it together, so that they execute as one machine
// with as many cores as all of them have.
//
//   slice 0   DMAIssue  aicmulticastvtcm_out ~~ 0->1, number 6, 4096 bytes ~~~~~┐
//   slice 1   HVX       sync ......................................... aicmulticastvtcm_in
#pragma once

#include <span>
#include <string_view>

#include "formats/qaic/qpc/program.hpp"

namespace npuscope::qaic {

// The programs of all devices as one, in order of their slices: queues, tasks, waits and
// dependencies one after the other, and for each receiving task a wait for its sender. Host bytes
// are those of the device that has most, since each has a link of its own. An input error where the
// slices are not 0, 1 … of one program with the same cores and statistics level, where a transfer
// has not exactly one other side with as many bytes, or where the devices wait for one another
// without end.
Result<Program> join_slices(std::span<const Program* const> slices, std::string_view name);

}  // namespace npuscope::qaic
