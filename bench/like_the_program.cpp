// Every benchmark runs with the memory settings of the program.
#include "base/memory_use.hpp"

namespace {

const bool is_set = [] {
  npuscope::disable_malloc_trim();
  return true;
}();

}  // namespace
