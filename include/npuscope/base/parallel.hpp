// Work that splits runs on all cores: parallel_for(n, body) calls body(i) for each i in [0, n), in
// no particular order, and returns when all are done. body must not throw.
#pragma once

#include <cstddef>
#include <functional>

namespace npuscope {

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body);

}  // namespace npuscope
