#include "base/memory_use.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>

namespace npuscope {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

// The number that a control group's file holds; unlimited for "max" and for no file.
std::uint64_t number_in(const char* path) {
  const File file(std::fopen(path, "re"));
  unsigned long long number = 0;
  return file && std::fscanf(file.get(), "%llu", &number) == 1 ? number : unlimited;
}

}  // namespace

// proc(5): resident and shared pages are the second and third number of statm.
std::uint64_t memory_in_use() {
  const File file(std::fopen("/proc/self/statm", "re"));
  unsigned long long size = 0, resident = 0, shared = 0;
  if (!file || std::fscanf(file.get(), "%llu %llu %llu", &size, &resident, &shared) != 3) return 0;
  return (resident - std::min(resident, shared)) * std::uint64_t(::sysconf(_SC_PAGESIZE));
}

std::uint64_t usable_memory() {
  std::uint64_t usable =
      std::uint64_t(::sysconf(_SC_PHYS_PAGES)) * std::uint64_t(::sysconf(_SC_PAGESIZE));
  usable = std::min(usable, number_in("/sys/fs/cgroup/memory.max"));
  usable = std::min(usable, number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    usable = std::min<std::uint64_t>(usable, limit.rlim_cur);
  }
  return usable;
}

}  // namespace npuscope
