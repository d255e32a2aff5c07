// What `npuscope ipu operators` prints: the operators of a fixed model, or of the offline model
// around it, and which of them the hardware runs as one layer.
//
//   index  type      layer  group   first output  shape              dtype  inputs
//       0  CONV_2D       0  first   conv1         [1, 112, 112, 64]  UINT8  images, w1, b1
//       1  ADD           0  member  add1          …
//       2  SOFTMAX       1  alone   …
#pragma once

#include <string>

#include "formats/sigmastar/model.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

Document make_ipu_operators_document(const sigmastar::Model& model);

}  // namespace npuscope::report
