#include "base/memory_use.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>

#include "base/numbers.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace npuscope {

namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

// The beginning of a small file of the system; empty where there is none. Without an allocation,
// which may be what fails.
class SystemFile {
 public:
  explicit SystemFile(const char* path) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    const ssize_t count = ::read(file, bytes_, sizeof bytes_);
    if (count > 0) size_ = std::size_t(count);
    ::close(file);
  }
  std::string_view text() const { return {bytes_, size_}; }

 private:
  char bytes_[8192];
  std::size_t size_ = 0;
};

std::optional<std::uint64_t> next_number(std::string_view& text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  return take_number<std::uint64_t>(text);
}

// The number that a control group's file holds; unlimited for "max" and for no file.
std::uint64_t number_in(const char* path) {
  const SystemFile file(path);
  std::string_view text = file.text();
  return next_number(text).value_or(unlimited);
}

// A number of kilobytes that a file of /proc has behind this name; nothing where it has none.
std::optional<std::uint64_t> bytes_named(std::string_view text, std::string_view name) {
  const std::size_t begin = text.find(name);
  if (begin == text.npos) return std::nullopt;
  text.remove_prefix(begin + name.size());
  const auto kilobytes = next_number(text);
  return kilobytes ? std::optional(*kilobytes << 10) : std::nullopt;
}

// proc_meminfo(5): what new processes can have before anything is swapped out, and the free swap.
std::uint64_t free_memory() {
  const SystemFile file("/proc/meminfo");
  const auto available = bytes_named(file.text(), "\nMemAvailable:");
  if (!available) return unlimited;
  return *available + bytes_named(file.text(), "\nSwapFree:").value_or(0);
}

}  // namespace

// proc(5): resident and shared pages are the second and third number of statm.
std::uint64_t memory_in_use() {
  const SystemFile file("/proc/self/statm");
  std::string_view text = file.text();
  next_number(text);
  const auto resident = next_number(text), shared = next_number(text);
  if (!resident || !shared) return 0;
  return (*resident - std::min(*resident, *shared)) * std::uint64_t(::sysconf(_SC_PAGESIZE));
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
  const SystemFile status("/proc/self/status");
  const auto reserved = bytes_named(status.text(), "\nVmData:");
  rlimit limit{};
  if (!reserved || *reserved >= wanted || ::getrlimit(RLIMIT_DATA, &limit) != 0) return;
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= wanted) return;
  limit.rlim_cur = wanted;
  ::setrlimit(RLIMIT_DATA, &limit);
}

void disable_malloc_trim() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);  // large pieces have mappings of their own otherwise, gone when freed
  mallopt(M_TRIM_THRESHOLD, -1);
#endif
}

}  // namespace npuscope
