// Work that splits runs on all cores: parallel_for(n, body) calls body(i) for each i in [0, n), in
// no particular order, and returns when all are done. body must not throw.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace npuscope {

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body);

// Calls `work`; while it waits for its own parts on other threads, this thread takes up nothing
// else.
void isolated(const std::function<void()>& work);

// How many calls of the body run at once, at most.
std::size_t workers();

// Rows from first to last, of which each part is looked at by a thread of its own.
struct RowRange {
  std::size_t first = 0, last = 0;
};

// All rows, in so many parts that several cores have something to do, each but the last of at least
// `least` rows. They depend on the two numbers alone, so what is added up part by part is the same
// on every machine.
std::vector<RowRange> ranges_of(std::size_t rows, std::size_t min = 65'536);

}  // namespace npuscope
