// Bounds that keep hostile files from costing more than their bytes do, far above real models.
#pragma once

#include <fmt/format.h>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "npu/graph/graph.hpp"

namespace npuscope::npu {

// How this folder fails inside: by throwing, so that two hundred shape functions stay formulas.
// Nothing of it leaves the folder; import_onnx turns every failure into an Error.

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

namespace npuscope::npu::limits {

inline constexpr std::size_t rank = 64;
inline constexpr std::size_t folded_integers = 4096;  // elements of one tensor (graph.hpp)
inline constexpr std::size_t folded_floats = 64;
inline constexpr std::size_t folded_in_all = 1 << 24;  // elements; beyond it, values are not kept
inline constexpr std::size_t nesting = 32;             // functions and branches within each other
inline constexpr std::size_t trips = 4096;             // of a loop
inline constexpr std::int64_t experts = 1024;          // of one layer, that are written out
inline constexpr std::size_t inlined_nodes = 1 << 20;  // that functions and branches may add
inline constexpr std::size_t inlined_bytes = 1 << 28;  // of names and attributes of those

// Integers and booleans whose values shape arithmetic can use.
constexpr bool folds_as_integer(DataType type) {
  return type >= DataType::int8 && type <= DataType::boolean;
}

// Why no tensor can have this shape ("has a dimension of -3"), if so.
std::optional<std::string> problem_of(const Tensor& tensor);

}  // namespace npuscope::npu::limits
