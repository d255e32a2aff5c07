#include "cli/standard_input.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "base/spool.hpp"
#include "base/try.hpp"
#include "npuscope/base/byte_source.hpp"

namespace npuscope::cli {
namespace {

Result<std::string> standard_input() {
  static const char* const path = "/dev/stdin";
  struct stat info {};
  if (::fstat(STDIN_FILENO, &info) != 0 || ::isatty(STDIN_FILENO) == 1) {
    return usage_error("-: standard input is a terminal; pipe a file into the command");
  }
  if (S_ISREG(info.st_mode)) return path;
  if (!S_ISFIFO(info.st_mode) && !S_ISSOCK(info.st_mode)) {
    return input_error("-: standard input is a folder or device; pipe a file into the command");
  }
  TRY_AS(file, spool(STDIN_FILENO, "standard input", ByteSourceOptions{}.decompressed_limit));
  std::fflush(file->get());
  if (::dup2(::fileno(file->get()), STDIN_FILENO) < 0) {
    return input_error("-: standard input cannot be kept; save it to a file first");
  }
  return path;
}

}  // namespace

Result<std::string> input_file(const std::string& name) {
  return name == "-" ? standard_input() : Result<std::string>(name);
}

}  // namespace npuscope::cli
