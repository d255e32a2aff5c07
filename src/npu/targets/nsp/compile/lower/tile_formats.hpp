// What an HTP moves without leaving its tiles (Crouton: 8 rows of 8 places, 32 channels).
//
//   Reshape [1x128x256] -> [1x128x4x64]       heads of whole blocks: nothing moves
//   Transpose [1x64x56x56] -> [1x56x56x64]    images lie with channels last: nothing moves
//   Concat of 64 and 16 channels              whole blocks but the last: products put them there
//   Concat of 48 and 16 channels              the second is moved into the block of the first
#pragma once

#include <string>

#include "npu/targets/nsp/compile/tasks/compile_context.hpp"

namespace npuscope::npu::nsp {

// Whether the result of a node that moves data stays in tiles where its operand is in them.
bool moves_whole_tiles(const CompileContext& context, const Node& node);

// Whether a view sees the same tiles.
bool sees_same_tiles(const CompileContext& context, const Node& node);

// Of a Concat of images: the share that does not come in the scale of the whole, since something
// else reads it as well or nothing calculates it.
double clipped_share(const CompileContext& context, const Node& node);

// Whether a product has it as its second operand.
bool is_right_side(const CompileContext& context, TensorId id);

// The kernel of a node that moves whole tiles.
std::string kernel_of_tiles(const CompileContext& context, const Node& node);

}  // namespace npuscope::npu::nsp
