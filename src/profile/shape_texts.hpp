// Shapes, operands and ports of ops out of the texts in which files print them: for readers only;
// behind them there are numbers (npuscope/profile/shapes.hpp).
//
//   shape_in("[1,8,32,256]", shapes)                             1, 8, 32, 256
//   shape_in("Dest [1 x 64], ScratchReduce [64]", shapes)        1, 64
//   operands_in("in TCM Src1 w float16 <64 x 3> 1KB", lists, shapes)   an input of 16 bits, 64, 3
//   attribute_in("{Kernels: [1, 1], TransactionId: 7}", "TransactionId")       7
//   port_in("0->1")                                              from 0 to 1, its sender
#pragma once

#include <optional>
#include <string_view>

#include "npuscope/profile/profile.hpp"

namespace npuscope {

// The first list in brackets, else the whole text. None where it is no list of whole numbers above
// 0, or one of more than 16.
ShapeId shape_in(std::string_view text, Shapes& shapes);
// The same of numbers.
ShapeId shape_of(std::span<const std::int64_t> extents, Shapes& shapes);

// One operand a line. None where a line has no shape.
OperandsId operands_in(std::string_view text, OperandLists& lists, Shapes& shapes);

// The value of `key` in attributes written as "{Key: value, Key: value}".
std::optional<std::string_view> attribute_in(std::string_view attributes, std::string_view key);

struct PortText {
  std::string_view from, to;
  bool is_sender = false;
};
// "0->1": data left 0 for 1; "0<-1": it came to 0 from 1.
std::optional<PortText> port_in(std::string_view description);

// What the shapes, operands and attributes of the ops say; to be called once, when they are known.
void read_op_texts(Profile& profile);

}  // namespace npuscope
