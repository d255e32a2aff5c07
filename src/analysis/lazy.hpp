// Values that are made when they are first asked for, once, by whichever thread comes first.
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

// The same of a value that takes much memory: it is there as long as anyone who asked for it holds
// it, and made anew when it is asked for later.
template <class T>
class LazyWhileHeld {
 public:
  template <class Make>
  std::shared_ptr<const T> get(const Make& make) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const T> value = known_.lock();
    if (value != nullptr) return value;
    isolated([&] { value = std::make_shared<const T>(make()); });
    known_ = value;
    return value;
  }

  // Nothing where nobody does.
  std::shared_ptr<const T> held() {
    const std::lock_guard lock(mutex_);
    return known_.lock();
  }

 private:
  std::mutex mutex_;
  std::weak_ptr<const T> known_;
};

}  // namespace npuscope::analysis
