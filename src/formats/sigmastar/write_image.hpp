// The offline model as bytes: what read_image() reads.
//
//   Image image;                      // version, tensors, variable buffer, model
//   const std::string bytes = write_image(image);
//
// Sizes, offsets and the eight counters follow from the rest. Weights are not written.
#pragma once

#include <string>

#include "formats/sigmastar/image.hpp"

namespace npuscope::sigmastar {

std::string write_image(const Image& image);

}  // namespace npuscope::sigmastar
