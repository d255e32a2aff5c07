// Transformer models as ONNX files without weight data: shapes, operators and names as an exported
// model has them, a few hundred kilobytes for billions of parameters.
//
//   Result<GeneratedModel> model = generate_onnx(*make_architecture("amber-7b", {}), {1, 32, 128},
//   {}); write_file_atomically("amber.onnx", as_byte_span(model->bytes));
//
// Every weight is the output of a ConstantOfShape node, so the file is whole (no external data),
// passes the ONNX checker and runs, with one value in place of each weight tensor.
//
// A decoder's inputs are input_ids and position_ids [batch, sequence] and, for each layer N,
// past_key.N and past_value.N [batch, key/value heads, context, head size]. It writes the new keys
// and values into that state at position_ids, attends to every position up to a token's own, and
// gives logits [batch, 1, vocabulary] of the last token and past_key.N_RetainedState,
// past_value.N_RetainedState. Positions must lie in [0, context).
//
// An encoder's inputs are input_ids, attention_mask (1: a token, 0: padding) and token_type_ids
// [batch, sequence]; its output is last_hidden_state [batch, sequence, hidden].
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "npuscope/base/result.hpp"
#include "npuscope/npu/models/architecture.hpp"

namespace npuscope::npu {

enum class FloatType : std::uint8_t { float32, float16 };

struct GenerateOptions {
  // Leave batch_size, seq_len and ctx_len as symbolic dimensions of inputs and outputs.
  bool symbolic = false;
  // Of weights and activations. Rotary angles are float32 in both.
  FloatType precision = FloatType::float32;
};

struct GeneratedModel {
  std::string bytes;      // the ONNX file; the same for the same arguments
  std::size_t nodes = 0;  // ConstantOfShape nodes included
};

// Usage errors: those of summarize().
Result<GeneratedModel> generate_onnx(const Architecture& architecture, const InputSizes& sizes,
                                     const GenerateOptions& options);

}  // namespace npuscope::npu
