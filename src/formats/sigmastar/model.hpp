// SigmaStar's fixed model (.sim), a TFLite-style FlatBuffer that also lies inside offline images:
//
//   auto model = read_model(file->bytes(), "yolov8s_fixed.sim");
//   model->operators[0]     CONV_2D, "images_conv", first of a fused group
//   model->operators[1]     CONV_2D, member
//   model->operators[95]    Fix2Float (custom), alone
//
// Operators have no names: their index is their name, and their first output says most about them.
// docs/formats/sigmastar.md lists the fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/files.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::sigmastar {

// Operators that the hardware runs as one; the group's time is its first one's.
enum class Fusion : std::uint8_t { alone, first, member };
const char* name_of(Fusion fusion);

struct ModelTensor {
  std::string name;
  std::int32_t type = 0;  // TFLite's TensorType
  std::vector<std::int32_t> shape;
  std::uint32_t buffer = 0;
};

struct ModelOperator {
  std::string type;        // TFLite's name, or the custom code
  bool is_custom = false;  // its type is a custom code
  Fusion fusion = Fusion::alone;
  std::uint32_t mark = 0;  // as the file has it: 1 alone, 2 first, 3 last of a group; 0 none
  std::vector<std::int32_t> inputs;  // tensors; -1: none
  std::vector<std::int32_t> outputs;
  std::string label;  // name of its first output; empty: none

  // Only another view of its input: it takes no layer of the hardware.
  bool is_alias() const { return is_custom && type == "Reshape_Alias"; }
  bool takes_layer() const { return fusion != Fusion::member && !is_alias(); }
};

struct Model {
  std::string identifier;  // "SIM2", of older chips "TFL3"
  std::string description;
  std::vector<ModelTensor> tensors;
  std::vector<std::int32_t> inputs;  // tensors
  std::vector<std::int32_t> outputs;
  std::vector<ModelOperator> operators;
  std::vector<std::int32_t> metadata_buffer;
  std::uint32_t subgraphs = 0;  // only the first is read
};

// Whether the first bytes of a file say that it is one.
inline constexpr std::size_t model_mark_bytes = 8;  // the identifier ends here
bool looks_like_model(std::string_view head);

// The operator type of TFLite's TensorType 3: "UINT8".
std::string tensor_type_name(std::int64_t type);
// Of one element; none where it is not whole, or the type not known.
std::optional<std::uint64_t> bytes_of_tensor_type(std::int64_t type);

// An input error for anything else, for offsets that lead outside, and for an operator whose type
// or tensor does not exist.
Result<Model> read_model(ByteSpan bytes, const std::string& name);

// The fixed model (.sim) as bytes: what read_model() reads. Weights are not written.
//
//   Model model;
//   model.operators.push_back({.type = "CONV_2D", .mark = 2, .outputs = {1}});
//   const std::string bytes = write_model(model);
//
// An operator's mark says its place in a fused group; `fusion` and `label` follow from the rest.
std::string write_model(const Model& model);

}  // namespace npuscope::sigmastar
