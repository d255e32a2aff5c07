// A slow and obvious interpreter of the ONNX operators that generated models use, in double
// precision, so that tests can ask what a model computes.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope::npu::test_support {

struct Array {
  std::vector<std::int64_t> shape;
  std::vector<double> values;  // row-major

  std::int64_t size() const { return std::int64_t(values.size()); }
  bool operator==(const Array&) const = default;
};

using Arrays = std::map<std::string, Array>;

// The same pseudo-random values in [-0.5, 0.5) for the same name, anywhere.
Array random_array(std::string_view name, const std::vector<std::int64_t>& shape);

// Every value of the graph by name. Weights (outputs of ConstantOfShape) are random arrays under
// their names. An operator or a form of it that is not known throws std::runtime_error.
Arrays interpret(const onnx::ModelProto& model, const Arrays& inputs);

}  // namespace npuscope::npu::test_support
