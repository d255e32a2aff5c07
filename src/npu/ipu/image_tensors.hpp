// The tensors of a lowered graph as a fixed model and an offline image hold them.
#pragma once

#include "formats/sigmastar/image.hpp"
#include "npu/ipu/compile.hpp"
#include "npu/ipu/lowering.hpp"

namespace npuscope::npu::ipu {

// Channels innermost where there are four dimensions or more.
Shape shape_on_chip(const Tensor& tensor);

// Tensors, inputs, outputs and operators; `marks` are the operators' places in their groups.
sigmastar::Model make_model(const Lowered& lowered, const std::vector<std::uint32_t>& marks,
                            const std::string& description);

// Of an input or output. `images`: how many lie in one buffer.
sigmastar::ImageTensor image_tensor(const Lowered& lowered, TensorId id, bool is_input,
                                    std::uint32_t images, const Target& target);

sigmastar::InputFormat input_format(const Lowered& lowered, TensorId id, const Target& target);

}  // namespace npuscope::npu::ipu
