// How much memory this process holds, and how much it may have.
//
//   memory_in_use()    of its own, without files that are mapped; 0 where the system does not say
//   usable_memory()    of the machine, or what its control group or limits leave of that
//   limit_memory()     for main(): more than the machine has free is refused, std::bad_alloc
#pragma once

#include <cstdint>

namespace npuscope {

std::uint64_t memory_in_use();
std::uint64_t usable_memory();

// Else the system ends the process, or another one, without a word. Leaves a lower limit as it is,
// and all limits where the process has reserved more than that already, as under a sanitizer.
void limit_memory();

}  // namespace npuscope
