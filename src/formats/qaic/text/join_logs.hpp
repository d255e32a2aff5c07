// The compiler's log and the runner's log of one program as one profile: what the compiler says
// that an inference moves, next to what the device took for it.
//
//   Profile run = …;                  // of a runner's log: execution of device 0, 124.8 ms
//   join_compiler_log(run, compiled)  // true: run has "ddr read bytes" of the device too
//
// Neither log names the other. Who opens exactly one of each says that they belong together; that
// they name different networks contradicts it.
#pragma once

#include "npuscope/profile/profile.hpp"

namespace npuscope::qaic {

bool join_compiler_log(Profile& run, const Profile& compiled);

}  // namespace npuscope::qaic
