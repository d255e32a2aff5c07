// What a model leaves open when it is compiled: values of its symbolic dimensions, and what to make
// of operators that are not known. Every architecture of the reference NPU takes the same.
//
//   nsp::BuildRequest request;
//   request.import.symbols = {{"seq_len", 32}, {"ctx_len", 128}};
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace npuscope::npu {

using Symbols = std::map<std::string, std::int64_t, std::less<>>;  // values of symbolic dimensions

struct ImportOptions {
  // Besides the model's own names: "past + 1" in a model is computed from `past`, and "ids.1"
  // names dimension 1 of the input ids, which may have no name in the model. The name of an input
  // of one whole number or truth value gives it that value: what decides a branch or a loop. That
  // of an If says its branch (0: else), that of a Loop its number of trips.
  Symbols symbols;
  bool allow_unknown = false;  // cost an unknown operator as an elementwise operation
  // Value of a symbolic first dimension that no symbol defines, or another batch than the one that
  // the model was exported with; 0: none. An error where the model cannot follow.
  std::int64_t batch = 0;
  bool needs_all_symbols = false;  // one that no input has is an error, not a warning
  std::set<std::string, std::less<>> truths = {};  // symbols given as true or false: no sizes
  // As a definition has it: "128", "false".
  std::string text_of(const Symbols::value_type& symbol) const {
    if (!truths.contains(symbol.first)) return std::to_string(symbol.second);
    return symbol.second != 0 ? "true" : "false";
  }
};

}  // namespace npuscope::npu
