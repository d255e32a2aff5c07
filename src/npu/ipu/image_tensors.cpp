#include "npu/ipu/image_tensors.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"

namespace npuscope::npu::ipu {
namespace {

// Element formats as real images have them.
constexpr std::uint32_t format_rgb = 1, format_int16 = 12, format_float32 = 21;

std::int32_t type_of(const Lowered& lowered, TensorId id) {
  return lowered.tensor_types[std::uint32_t(id)];
}

class ModelMaker {
 public:
  explicit ModelMaker(const Lowered& lowered)
      : lowered_(lowered), places_(lowered.graph.tensors.size(), -1) {}

  sigmastar::Model run(const std::vector<std::uint32_t>& marks) {
    for (const TensorId id : lowered_.graph.inputs) model_.inputs.push_back(place(id));
    for (std::size_t i = 0; i < lowered_.operators.size(); ++i) {
      const Operator& op = lowered_.operators[i];
      sigmastar::ModelOperator each;
      each.type = op.type;
      each.is_custom = op.is_custom;
      each.mark = marks[i];
      for (const TensorId id : op.inputs) each.inputs.push_back(place(id));
      for (const TensorId id : op.outputs) each.outputs.push_back(place(id));
      model_.operators.push_back(std::move(each));
    }
    for (const TensorId id : lowered_.graph.outputs) model_.outputs.push_back(place(id));
    return std::move(model_);
  }

 private:
  std::int32_t place(TensorId id) {
    if (id == TensorId::none) return -1;
    std::int32_t& at = places_[std::uint32_t(id)];
    if (at >= 0) return at;
    at = std::int32_t(model_.tensors.size());
    const Tensor& tensor = lowered_.graph[id];
    sigmastar::ModelTensor made{tensor.name, type_of(lowered_, id), {}, 0};
    for (const std::int64_t size : tensor.constant ? tensor.shape : shape_on_chip(tensor)) {
      made.shape.push_back(std::int32_t(size));
    }
    model_.tensors.push_back(std::move(made));
    return at;
  }

  const Lowered& lowered_;
  std::vector<std::int32_t> places_;  // in the model, by tensor
  sigmastar::Model model_;
};

}  // namespace

Shape shape_on_chip(const Tensor& tensor) {
  Shape shape = tensor.shape;
  if (shape.size() >= 4) std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
  return shape;
}

sigmastar::Model make_model(const Lowered& lowered, const std::vector<std::uint32_t>& marks,
                            const std::string& description) {
  sigmastar::Model model = ModelMaker(lowered).run(marks);
  model.description = description;
  return model;
}

sigmastar::ImageTensor image_tensor(const Lowered& lowered, TensorId id, bool is_input,
                                    std::uint32_t images, const Target& target) {
  const Tensor& tensor = lowered.graph[id];
  sigmastar::ImageTensor made;
  made.name = tensor.name;
  made.type = std::uint32_t(type_of(lowered, id));
  for (const std::int64_t size : shape_on_chip(tensor)) made.shape.push_back(std::uint32_t(size));
  if (made.shape.empty()) made.shape.push_back(1);
  const std::uint32_t inner = made.shape.back();
  made.inner_stride_bytes = bytes_of_type(type_of(lowered, id));
  made.padded_width = std::uint32_t(round_up(inner, target.width_alignment));
  made.is_image = is_input && is_image(tensor);
  made.element_format = made.is_image                       ? format_rgb
                        : made.type == tensor_type::int16   ? format_int16
                        : made.type == tensor_type::float32 ? format_float32
                                                            : 0;
  made.scale = 1;
  std::uint64_t bytes = tensor.elements() * made.inner_stride_bytes;
  if (made.is_image) {
    const std::uint64_t line =
        round_up(std::uint64_t{made.shape[2]} * inner, target.width_alignment);
    bytes = made.shape[0] * round_up(made.shape[1], target.height_alignment) * line;
  }
  made.shape[0] *= images;
  made.bytes = std::uint32_t(std::min<std::uint64_t>(bytes * images, 0xffffffff));
  return made;
}

sigmastar::InputFormat input_format(const Lowered& lowered, TensorId id, const Target& target) {
  const Tensor& tensor = lowered.graph[id];
  const std::string layout = tensor.shape.size() >= 4 ? "NHWC" : "";
  if (is_image(tensor)) {
    return {layout, "RGB", "RGB", target.width_alignment, target.height_alignment};
  }
  const std::string raw =
      type_of(lowered, id) == tensor_type::int16 ? "RAWDATA_S16_NHWC" : "RAWDATA";
  return {layout, raw, raw, 1, 1};
}

}  // namespace npuscope::npu::ipu
