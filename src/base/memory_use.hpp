// How much memory this process holds, and how much it may have.
//
//   memory_in_use()    of its own, without files that are mapped; 0 where the system does not say
//   usable_memory()    of the machine, or what its control group or limits leave of that
#pragma once

#include <cstdint>

namespace npuscope {

std::uint64_t memory_in_use();
std::uint64_t usable_memory();

}  // namespace npuscope
