// MLIR text taken apart into operations, as far as profiling needs it: which operation stands in
// which block of which other, its text, and the locations that the file names. Knows no dialect.
//
//   %5:2 = torq_hl.wait_program %inv : T {"torq-action-id" = 2 : i32} : A, B loc(#loc7)
//     name       torq_hl.wait_program
//     results    %5:2
//     head       %inv : T {"torq-action-id" = 2 : i32} : A, B loc(#loc7)
//
// The printer ends an operation with its line, and begins a region with a { that ends a line; both
// hold for the custom and the generic form ("dialect.op"(%a) ({ … }) {attributes}).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope::torq {

inline constexpr std::uint32_t no_op = std::numeric_limits<std::uint32_t>::max();

struct MlirOp {
  std::string_view results;  // before the =; may be empty
  std::string_view name;     // without quotes
  std::string_view head;     // behind the name, up to its first region
  std::string_view tail;     // behind its last region
  std::uint64_t offset = 0;  // in the text
  std::uint32_t parent = no_op;
  std::uint32_t block = 0;  // in MlirText::blocks
};

struct MlirBlock {
  std::string_view label;      // "^bb1"; empty: the region's first, unnamed
  std::string_view arguments;  // "%arg0: T loc(unknown), %arg1: T"
};

struct MlirAlias {
  std::string_view name;  // "#loc7"
  std::string_view text;  // "loc(fused[#loc5, #loc6])"
};

struct MlirText {
  std::vector<MlirOp> ops;  // in the order of the text
  std::vector<MlirBlock> blocks;
  std::vector<MlirAlias> locations;
};

// The views are of `text`.
MlirText split_mlir(std::string_view text);

// "%arg5", "%5#0" in their order; strings are passed over.
std::vector<std::string_view> values_in(std::string_view text);

// What stands between the parenthesis at `text[at]` and the one that closes it.
std::string_view in_parentheses(std::string_view text, std::size_t at);

// The number behind `key =`; the key may be in quotes.
std::optional<std::int64_t> integer_attribute(std::string_view text, std::string_view key);

// The first string in the text, and that behind `key =`.
std::optional<std::string_view> first_string(std::string_view text);
std::optional<std::string_view> string_attribute(std::string_view text, std::string_view key);

// What stands between a string's quotes as the bytes that it means: \C3\89 is one character of
// UTF-8.
std::string unescaped(std::string_view text);

// Its last loc(…) outside of strings; empty without one.
std::string_view location_of(const MlirOp& op);

}  // namespace npuscope::torq
