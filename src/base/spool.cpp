#include "base/spool.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

namespace npuscope {
namespace {

bool write_all(int to, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(to, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(std::size_t(written));
  }
  return true;
}

}  // namespace

Result<FileHandle> spool(int from, std::string_view name, std::uint64_t limit) {
  constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
  FileHandle file(std::tmpfile(), &std::fclose);
  if (!file) {
    return input_error("{}: cannot be read: {}; save it to a file first", name,
                       std::strerror(errno));
  }
  std::vector<char> buffer(buffer_bytes);
  std::uint64_t total = 0;
  for (;;) {
    const ssize_t count = ::read(from, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) return file;
    total += std::uint64_t(std::max<ssize_t>(count, 0));
    if (total > limit) {
      return input_error("{}: more than {} bytes came, the limit; save it to a file", name, limit);
    }
    if (count < 0 || !write_all(::fileno(file.get()), {buffer.data(), std::size_t(count)})) {
      return input_error("{}: cannot be kept: {}; save it to a file first", name,
                         std::strerror(errno));
    }
  }
}

}  // namespace npuscope
