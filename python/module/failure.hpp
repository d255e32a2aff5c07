// How the library's errors become Python's: a Result is its value or an exception, which
// register_errors() makes npuscope.UsageError, InputError or OutputError, with the same sentence.
//
//   Analysis analysis(taken(open_profiles(paths)));
#pragma once

#include <exception>
#include <utility>

#include "npuscope/base/result.hpp"

namespace npuscope::python {

class Failure : public std::exception {
 public:
  explicit Failure(Error error) : error_(std::move(error)) {}

  const Error& error() const { return error_; }
  const char* what() const noexcept override { return error_.message.c_str(); }

 private:
  Error error_;
};

template <class T>
T taken(Result<T>&& result) {
  if (!result) throw Failure(std::move(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace npuscope::python
