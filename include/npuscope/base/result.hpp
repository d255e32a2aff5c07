// How npuscope reports failure: a Result<T> holds a value or an Error, never throws.
//
//   Result<Qpc> qpc = read_qpc(path);
//   if (!qpc) return tl::unexpected(qpc.error());
//
// An Error is one sentence that says what is wrong, where (file, offset or line) and what to do:
//   "programqpc.bin: segment 3 ends at byte 9000 but the file has 344 bytes; copy the file again"
#pragma once

#include <fmt/core.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace npuscope {

// Decides the exit status of the program (docs/cli.md): usage 2, input 3, output 4.
enum class ErrorKind {
  usage,   // the command line or an argument makes no sense
  input,   // a file is missing, unreadable, broken or of another kind
  output,  // a result could not be written
};

struct Error {
  ErrorKind kind = ErrorKind::input;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = tl::expected<void, Error>;

template <class... Args>
tl::unexpected<Error> usage_error(fmt::format_string<Args...> text, Args&&... args) {
  return tl::unexpected(Error{ErrorKind::usage, fmt::format(text, std::forward<Args>(args)...)});
}

template <class... Args>
tl::unexpected<Error> input_error(fmt::format_string<Args...> text, Args&&... args) {
  return tl::unexpected(Error{ErrorKind::input, fmt::format(text, std::forward<Args>(args)...)});
}

template <class... Args>
tl::unexpected<Error> output_error(fmt::format_string<Args...> text, Args&&... args) {
  return tl::unexpected(Error{ErrorKind::output, fmt::format(text, std::forward<Args>(args)...)});
}

}  // namespace npuscope
