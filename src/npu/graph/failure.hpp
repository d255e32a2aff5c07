// How this folder fails inside: by throwing, so that two hundred shape functions stay formulas.
// Nothing of it leaves the folder; import_onnx turns every failure into an Error.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace npuscope::npu {

// What is wrong with one operator; the importer knows which node it is and says where.
struct OperatorFailure {
  std::string what;
};

// An output's size follows from values that only exist at run time. The importer may still take
// the shape that the file declares.
struct UnknownSize : OperatorFailure {};

// What is wrong with the model, complete but for the file's name.
struct ImportFailure {
  std::string message;
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) {
  throw OperatorFailure{fmt::format(text, std::forward<Args>(args)...)};
}

template <class... Args>
[[noreturn]] void fail_size(fmt::format_string<Args...> text, Args&&... args) {
  throw UnknownSize{{fmt::format(text, std::forward<Args>(args)...)}};
}

template <class... Args>
[[noreturn]] void fail_import(fmt::format_string<Args...> text, Args&&... args) {
  throw ImportFailure{fmt::format(text, std::forward<Args>(args)...)};
}

}  // namespace npuscope::npu
