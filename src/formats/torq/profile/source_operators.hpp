// The model's operators as Torq's files name them, "onnx.Conv@L94": an operator and its line in the
// source. Of ONNX alone: those of other dialects are no nodes of an ONNX model.
#pragma once

#include <string_view>

#include "npuscope/profile/profile.hpp"

namespace npuscope::torq {

// A name of another dialect adds nothing.
void add_source_operator(Profile& profile, std::string_view name);

// Where there is no source: those that ops name, by their lines.
void add_source_operators_of_ops(Profile& profile);

}  // namespace npuscope::torq
