// What of the public TFLite schema (tensorflow/lite/schema/schema.fbs) npuscope knows: slots of the
// model's tables, words for numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace npuscope::sigmastar {

// Slots of the model's tables, in the order of the public TFLite schema; SigmaStar's own is the
// operator's fusion mark.

namespace slot {
inline constexpr std::uint16_t model_version = 0, model_codes = 1, model_subgraphs = 2,
                               model_description = 3, model_metadata_buffer = 5;
inline constexpr std::uint16_t code_deprecated = 0, code_custom = 1, code_builtin = 3;
inline constexpr std::uint16_t graph_tensors = 0, graph_inputs = 1, graph_outputs = 2,
                               graph_operators = 3;
inline constexpr std::uint16_t tensor_shape = 0, tensor_type = 1, tensor_buffer = 2,
                               tensor_name = 3;
inline constexpr std::uint16_t operator_code = 0, operator_inputs = 1, operator_outputs = 2,
                               operator_fusion = 16;
}  // namespace slot

inline constexpr std::uint32_t mark_alone = 1, mark_first = 2, mark_last = 3;

// The words of the public TFLite schema for its numbers (tensorflow/lite/schema/schema.fbs).

inline constexpr std::int32_t custom_operator = 32;

std::string builtin_operator_name(std::int32_t code);  // "CONV_2D"; "BUILTIN_999" for an unknown
std::optional<std::int32_t> builtin_operator_code(std::string_view name);

}  // namespace npuscope::sigmastar
