#include "base/without_unwinding.hpp"

#include <exception>
#include <mutex>
#include <new>

namespace npuscope {
namespace {

[[noreturn]] void end_without_unwinding() {
  try {
    throw std::bad_alloc();
  } catch (...) {
    std::terminate();  // with the exception, for a handler that says why
  }
}

}  // namespace

void without_unwinding(const std::function<void()>& make) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  const std::new_handler before = std::set_new_handler(end_without_unwinding);
  make();
  std::set_new_handler(before);
}

}  // namespace npuscope
