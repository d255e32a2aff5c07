// Items that are begun one after another, worked on side by side, and ended in the order in which
// they were begun. Few are under way at a time, so that memory stays bounded:
//
//   run_pipeline<Block*>(9, [&] { return next_block(); },        // nullptr: there are no more
//                        [&](Block* block) { print(*block); },   // on all cores
//                        [&](Block* block) { hand_on(*block); });
//
// Those under way are neighbours: when one begins, all but the last `under_way` - 1 before it have
// ended. Items are pointers to what others own: of anything else oneTBB would lose some where one
// throws.
#pragma once

#include <cstddef>
#include <type_traits>

#ifndef __SANITIZE_THREAD__

#include <tbb/parallel_pipeline.h>

namespace npuscope {

template <class Item, class Begin, class Work, class End>
void run_pipeline(std::size_t under_way, const Begin& begin, const Work& work, const End& end) {
  static_assert(std::is_pointer_v<Item>);
  const auto next = [&](tbb::flow_control& control) -> Item {
    Item item = begin();
    if (item == nullptr) control.stop();
    return item;
  };
  const auto worked_on = [&](Item item) {
    work(item);
    return item;
  };
  const auto done = [&](Item item) { end(item); };
  tbb::parallel_pipeline(under_way,
                         tbb::make_filter<void, Item>(tbb::filter_mode::serial_in_order, next) &
                             tbb::make_filter<Item, Item>(tbb::filter_mode::parallel, worked_on) &
                             tbb::make_filter<Item, void>(tbb::filter_mode::serial_in_order, done));
}

}  // namespace npuscope

#else

// The thread sanitizer does not see how the uninstrumented oneTBB library orders its tasks and
// would report every one of them; plain threads it understands.
#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/parallel.hpp"

namespace npuscope {

template <class Item, class Begin, class Work, class End>
void run_pipeline(std::size_t under_way, const Begin& begin, const Work& work, const End& end) {
  static_assert(std::is_pointer_v<Item>);
  std::mutex beginning, ending;
  std::condition_variable ended;
  std::size_t begun = 0, turn = 0;
  bool are_more = true;
  std::exception_ptr failure;  // the first
  const auto take_part = [&] {
    while (true) {
      std::unique_lock begins(beginning);
      if (!are_more) return;
      Item item = begin();
      are_more = item != nullptr;
      if (!are_more) return;
      const std::size_t number = begun++;
      begins.unlock();
      work(item);
      std::unique_lock ends(ending);
      ended.wait(ends, [&] { return turn == number || failure != nullptr; });
      if (failure != nullptr) return;
      end(item);
      turn += 1;
      ended.notify_all();
    }
  };
  const auto try_part = [&] {
    try {
      take_part();
    } catch (...) {
      const std::scoped_lock both(beginning, ending);
      are_more = false;
      if (failure == nullptr) failure = std::current_exception();
      ended.notify_all();
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min(under_way, workers()); ++i) helpers.emplace_back(try_part);
    try_part();
  }
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace npuscope

#endif
