#include "npuscope/base/parallel.hpp"

#include <tbb/parallel_for.h>

namespace npuscope {

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body) {
  tbb::parallel_for(std::size_t{0}, count, body);
}

}  // namespace npuscope
