// What decides how a model is tried, and which runs judge the times of such a model.
#pragma once

#include <cstdint>

#include "npu/graph/graph.hpp"

namespace npuscope::npu {

enum class ModelFamily : std::uint8_t { convolutional, encoder, decoder, other };

struct ModelFacts {
  ModelFamily family = ModelFamily::other;
  bool is_quantized = false;
  bool has_wide_floats = false;  // that fp16 would halve
  bool is_float32 = false;       // most of its weights are
};

ModelFacts facts_of(const Graph& graph);

}  // namespace npuscope::npu
