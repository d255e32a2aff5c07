// The fixed model (.sim) as bytes: what read_model() reads. Weights are not written.
//
//   Model model;
//   model.operators.push_back({.type = "CONV_2D", .mark = 2, .outputs = {1}});
//   const std::string bytes = write_model(model);
//
// An operator's mark says its place in a fused group; `fusion` and `label` follow from the rest.
#pragma once

#include <string>

#include "formats/sigmastar/model.hpp"

namespace npuscope::sigmastar {

std::string write_model(const Model& model);

}  // namespace npuscope::sigmastar
