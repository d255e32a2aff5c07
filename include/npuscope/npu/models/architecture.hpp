// Transformer models by their published sizes: presets, and architectures of one's own.
//
//   ArchitectureChanges changes;
//   changes.layers = 2;
//   Result<Architecture> small = make_architecture("amber-7b", changes);   // Amber, two layers
//   InputSizes sizes = default_sizes(*small);                              // 1 x 32 of 128
//   Status fits = validate(*small, sizes);
//
// "decoder" and "encoder" in place of a preset's name start from nothing: then hidden_size, layers,
// heads, feed_forward_size and vocabulary_size must be among the changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/result.hpp"

namespace npuscope::npu {

enum class ModelKind : std::uint8_t {
  decoder,  // Llama: RMS norm, rotary positions, gated SiLU feed-forward, retained key/value state
  encoder,  // BERT: layer norm, learned positions, GELU feed-forward
};

std::string_view name_of(ModelKind kind);

struct Architecture {
  std::string name;
  ModelKind kind = ModelKind::decoder;
  std::int64_t hidden_size = 0;  // elements of a token's vector between layers
  std::int64_t layers = 0;
  std::int64_t heads = 0;            // query heads
  std::int64_t key_value_heads = 0;  // fewer than heads: grouped-query attention
  std::int64_t head_size = 0;
  std::int64_t feed_forward_size = 0;
  std::int64_t vocabulary_size = 0;
  std::int64_t max_positions = 0;  // encoder: rows of the table of positions
  bool tied_embeddings = false;    // decoder: logits use the embedding table as their weights
  bool query_key_norm = false;     // decoder: RMS norm over each query and key head
  double rotary_base = 10000;      // decoder
  double norm_epsilon = 1e-6;

  std::int64_t query_size() const { return heads * head_size; }
  std::int64_t key_value_size() const { return key_value_heads * head_size; }
};

struct Preset {
  Architecture architecture;
  std::string_view source;  // where the sizes are published
};

const std::vector<Preset>& presets();

// What differs from the preset. Unset members keep the preset's value.
struct ArchitectureChanges {
  std::optional<std::string> name;
  std::optional<std::int64_t> hidden_size, layers, heads, key_value_heads, head_size,
      feed_forward_size, vocabulary_size, max_positions;
  std::optional<bool> tied_embeddings, query_key_norm;
  std::optional<double> rotary_base;
};

// `base` is a preset's name, "decoder" or "encoder". Without a preset key_value_heads is heads,
// head_size is hidden_size / heads, and max_positions is 512. Usage errors: an unknown base (lists
// the known ones), a size that is missing, a change that this kind of model does not have.
Result<Architecture> make_architecture(std::string_view base, const ArchitectureChanges& changes);

// The sizes of one inference. An encoder has no context: there it is 0.
struct InputSizes {
  std::int64_t batch = 1;
  std::int64_t sequence = 32;  // tokens that go in
  std::int64_t context = 128;  // tokens that the retained key/value state holds, new ones included
};

InputSizes default_sizes(const Architecture& architecture);

// Usage errors: a size out of range, heads that key/value heads do not divide, an odd head size
// (rotary positions turn pairs), more tokens than context or positions.
Status validate(const Architecture& architecture, const InputSizes& sizes);

}  // namespace npuscope::npu
