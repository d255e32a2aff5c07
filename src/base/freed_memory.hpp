// How the program treats memory that it has freed. A question about millions of spans takes and
// frees columns of many megabytes one after the other; giving each back to the system and getting
// it again, page by page and cleared, was a fifth of the time that questions take.
#pragma once

namespace npuscope {

// Keeps it for what is taken next, for the rest of the process. For main(): a library must not
// decide that for the program that uses it. Does nothing where the C library is not glibc.
void disable_malloc_trim();

// Empties them and frees their memory, which `= {}` keeps: that assigns a list of nothing.
template <class... Containers>
void free_memory_of(Containers&... containers) {
  (Containers().swap(containers), ...);
}

}  // namespace npuscope
