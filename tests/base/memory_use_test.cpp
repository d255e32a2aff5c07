#include "base/memory_use.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "sanitized.hpp"

namespace npuscope {
namespace {

rlim_t data_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_DATA, &limit);
  return limit.rlim_cur;
}

// In a process of its own, whose limits end with it.
template <class Check>
bool holds_after_limiting(rlim_t before, const Check& check) {
  const pid_t child = fork();
  if (child == 0) {
    rlimit limit{before, RLIM_INFINITY};
    setrlimit(RLIMIT_DATA, &limit);
    limit_memory();
    _exit(check() ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(MemoryUse, MoreThanTheMachineHasFreeIsRefusedInsteadOfEndingTheProcess) {
  if (test_support::is_sanitized()) GTEST_SKIP() << "sanitizers reserve more than there is";
  EXPECT_TRUE(holds_after_limiting(RLIM_INFINITY, [] {
    if (data_limit() > usable_memory()) return false;
    void* const volatile more = std::malloc(usable_memory() + 1);
    return more == nullptr;
  }));
}

TEST(MemoryUse, ALowerLimitStays) {
  constexpr rlim_t low = rlim_t{200} << 20;
  EXPECT_TRUE(holds_after_limiting(low, [] { return data_limit() == low; }));
}

}  // namespace
}  // namespace npuscope
