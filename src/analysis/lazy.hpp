// A value that is made when it is first asked for, once, by whichever thread comes first.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "base/parallel.hpp"

namespace npuscope::analysis {

template <class T>
class Lazy {
 public:
  bool is_known() const { return known_.load(std::memory_order_acquire) != nullptr; }

  template <class Make>
  const T& get(const Make& make) {
    if (const T* known = known_.load(std::memory_order_acquire)) return *known;
    std::call_once(once_, [&] {
      // A thread that waits for parts of this value must not begin with another one, which may ask
      // for this.
      isolated([&] { value_ = std::make_unique<T>(make()); });
      known_.store(value_.get(), std::memory_order_release);
    });
    return *value_;
  }

 private:
  std::once_flag once_;
  std::unique_ptr<T> value_;
  std::atomic<const T*> known_ = nullptr;
};

}  // namespace npuscope::analysis
