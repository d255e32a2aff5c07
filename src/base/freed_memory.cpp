#include "base/freed_memory.hpp"

#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace npuscope {

void disable_malloc_trim() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);  // large pieces have mappings of their own otherwise, gone when freed
  mallopt(M_TRIM_THRESHOLD, -1);
#endif
}

}  // namespace npuscope
