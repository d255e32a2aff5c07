#include "base/standard_streams.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

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

}  // namespace npuscope
