// The networks whose throughput on Cloud AI 100 cards is published, as ONNX graphs without weight
// data: quantised to int8 as the submissions were, or transformers whose products are.
//
//   Result<npu::Graph> graph = resnet50(8);   // images of 224 by 224, uint8
#pragma once

#include <cstdint>
#include <string>

#include "npu/graph/graph.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::validation {

// ResNet-50 v1.5: the second of three convolutions of a block has the stride.
Result<npu::Graph> resnet50(std::int64_t batch);
// 300 by 300, from MobileNet v1, without the suppression of overlapping boxes, which hosts do.
Result<npu::Graph> ssd_mobilenet(std::int64_t batch);
// 1200 by 1200, from the first three stages of ResNet-34, without that suppression either.
Result<npu::Graph> ssd_resnet34(std::int64_t batch);

// An ONNX file whose products' operands and results are quantised, all else in floating point.
std::string with_int8_products(const std::string& onnx);

}  // namespace npuscope::validation
