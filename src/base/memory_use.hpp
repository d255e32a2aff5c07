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

// How the program treats memory that it has freed. A question about millions of spans takes and
// frees columns of many megabytes one after the other; giving each back to the system and getting
// it again, page by page and cleared, was a fifth of the time that questions take.

// Keeps it for what is taken next, for the rest of the process. For main(): a library must not
// decide that for the program that uses it. Does nothing where the C library is not glibc.
void disable_malloc_trim();

// Empties them and frees their memory, which `= {}` keeps: that assigns a list of nothing.
template <class... Containers>
void free_memory_of(Containers&... containers) {
  (Containers().swap(containers), ...);
}

}  // namespace npuscope
