#include "base/process.hpp"

#include <execinfo.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>

namespace npuscope {

void write_at_once(StandardStream stream, std::string_view text) {
  [[maybe_unused]] const auto written = ::write(int(stream), text.data(), text.size());
}

void end_at_once(int status) { ::_exit(status); }

void end_by_signal(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void handle_signals(SignalHandler end, SignalHandler shrunk) {
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGBUS, shrunk);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
    if (std::signal(signal, end) == SIG_IGN) std::signal(signal, SIG_IGN);  // nohup
  }
}

void prepare_unwinding() {
  void* frame = nullptr;
  ::backtrace(&frame, 1);
}

bool run_with_input(const std::string& command, std::string_view input) {
  constexpr int not_executable = 126, not_found = 127;  // of the shell
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  std::FILE* pipe = ::popen(command.c_str(), "w");
  int status = -1;
  if (pipe != nullptr) {
    std::fwrite(input.data(), 1, input.size(), pipe);
    status = ::pclose(pipe);
  }
  std::signal(SIGPIPE, before);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return status != -1 && code != not_executable && code != not_found;
}

int replace_this_program(const std::string& program, char** arguments) {
  ::execvp(program.c_str(), arguments);
  return errno;
}

std::filesystem::path path_of_this_program() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown);
}

namespace {

// What is said until it is closed.
std::string all_of(int descriptor) {
  std::string text;
  std::array<char, 512> piece;
  while (true) {
    const ssize_t size = ::read(descriptor, piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    if (text.size() < piece.size()) text.append(piece.data(), std::size_t(size));
  }
}

}  // namespace

ApartResult run_apart(const std::function<int()>& work) {
  int said[2];
  if (::pipe2(said, O_CLOEXEC) != 0) return {errno};
  const pid_t caller = ::getpid();
  const pid_t worker = ::fork();
  if (worker == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != caller) ::_exit(1);
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
      ::signal(signal, SIG_DFL);
    }
    ::dup2(said[1], STDERR_FILENO);
    ::_exit(work());
  }
  ApartResult result{worker < 0 ? errno : 0};
  ::close(said[1]);
  if (worker > 0) result.said = all_of(said[0]);
  ::close(said[0]);
  if (worker < 0) return result;
  int status = 0;
  while (::waitpid(worker, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  return result;
}

}  // namespace npuscope
