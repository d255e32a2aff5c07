// The words of the public TFLite schema for its numbers (tensorflow/lite/schema/schema.fbs).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace npuscope::sigmastar {

inline constexpr std::int32_t custom_operator = 32;

std::string builtin_operator_name(std::int32_t code);  // "CONV_2D"; "BUILTIN_999" for an unknown
std::optional<std::int32_t> builtin_operator_code(std::string_view name);

}  // namespace npuscope::sigmastar
