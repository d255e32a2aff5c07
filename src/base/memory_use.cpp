#include "base/memory_use.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>

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

// A number of kilobytes that a file of /proc has behind this name; nothing where it has none.
std::optional<std::uint64_t> bytes_named(const char* path, const char* format) {
  const File file(std::fopen(path, "re"));
  char line[256];
  while (file && std::fgets(line, sizeof line, file.get()) != nullptr) {
    unsigned long long kilobytes = 0;
    if (std::sscanf(line, format, &kilobytes) == 1) return kilobytes << 10;
  }
  return std::nullopt;
}

// proc_meminfo(5): what new processes can have before anything is swapped out, and the free swap.
std::uint64_t free_memory() {
  const auto available = bytes_named("/proc/meminfo", "MemAvailable: %llu");
  if (!available) return unlimited;
  return *available + bytes_named("/proc/meminfo", "SwapFree: %llu").value_or(0);
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

void limit_memory() {
  const std::uint64_t wanted = std::min(usable_memory(), free_memory());
  const auto reserved = bytes_named("/proc/self/status", "VmData: %llu");
  rlimit limit{};
  if (!reserved || *reserved >= wanted || ::getrlimit(RLIMIT_DATA, &limit) != 0) return;
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= wanted) return;
  limit.rlim_cur = wanted;
  ::setrlimit(RLIMIT_DATA, &limit);
}

}  // namespace npuscope
