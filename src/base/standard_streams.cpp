#include "base/standard_streams.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace npuscope {

bool is_terminal(StandardStream stream) { return ::isatty(int(stream)) == 1; }

std::optional<TerminalSize> terminal_size(StandardStream stream) {
  winsize size{};
  if (::ioctl(int(stream), TIOCGWINSZ, &size) != 0) return std::nullopt;
  return TerminalSize{size.ws_col, size.ws_row};
}

InputKind kind_of_standard_input() {
  struct stat info {};
  if (::fstat(STDIN_FILENO, &info) != 0 || is_terminal(StandardStream::input)) {
    return InputKind::terminal;
  }
  if (S_ISREG(info.st_mode)) return InputKind::file;
  const bool is_pipe = S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode);
  return is_pipe ? InputKind::pipe : InputKind::other;
}

bool replace_standard_input(std::FILE* file) {
  std::fflush(file);
  return ::dup2(::fileno(file), STDIN_FILENO) >= 0;
}

void occupy_closed_streams() {
  for (const int descriptor : {0, 1, 2}) {
    if (::fcntl(descriptor, F_GETFD) == -1) ::open("/dev/null", descriptor ? O_RDONLY : O_WRONLY);
  }
}

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

}  // namespace

Result<FileHandle> spool(const std::filesystem::path& pipe, std::uint64_t limit) {
  const int from = ::open(pipe.c_str(), O_RDONLY | O_CLOEXEC);
  if (from < 0) {
    return input_error("{}: cannot be read: {}; save it to a file first", pipe.string(),
                       std::strerror(errno));
  }
  auto spooled = spool(from, pipe.string(), limit);
  ::close(from);
  return spooled;
}

Result<FileHandle> spool_standard_input(std::uint64_t limit) {
  return spool(STDIN_FILENO, "standard input", limit);
}

}  // namespace npuscope
