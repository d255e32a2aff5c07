#include <cmath>

#include "npu/models/onnx_builder.hpp"

namespace npuscope::npu::models {
namespace {

class Encoder {
 public:
  Encoder(OnnxBuilder& builder, const Architecture& architecture)
      : builder_(builder), architecture_(architecture) {}

  void build(const InputDimensions& dimensions) {
    const Dimensions tokens{dimensions.batch, dimensions.sequence};
    const Value input_ids = builder_.input("input_ids", ElementType::int64, tokens);
    const Value attention_mask = builder_.input("attention_mask", ElementType::int64, tokens);
    const Value token_types = builder_.input("token_type_ids", ElementType::int64, tokens);
    const Value mask = score_mask(attention_mask);
    Value x = embeddings(input_ids, token_types, dimensions.sequence);
    for (std::int64_t i = 0; i < architecture_.layers; ++i) {
      auto encoder = builder_.enter("encoder");
      auto scope = builder_.enter(fmt::format("layer.{}", i));
      x = layer(x, mask, i + 1 == architecture_.layers ? "last_hidden_state" : "");
    }
    builder_.output(x, ElementType::model,
                    {dimensions.batch, dimensions.sequence, architecture_.hidden_size});
  }

 private:
  // [batch x sequence] of 1 and 0 -> [batch x 1 x 1 x sequence] of 0 and masked_score
  Value score_mask(const Value& attention_mask) {
    const Value mask = builder_.node("Unsqueeze", {attention_mask, builder_.integers({1, 2})});
    const Value kept =
        builder_.node("Cast", {mask}, {{"to", builder_.type_number(ElementType::model)}});
    const Value hidden = builder_.node("Sub", {builder_.number(1), kept});
    return builder_.node("Mul", {hidden, builder_.number(masked_score)});
  }

  Value embeddings(const Value& input_ids, const Value& token_types, const Dimension& sequence) {
    auto scope = builder_.enter("embeddings");
    const Value words = table("word_embeddings", architecture_.vocabulary_size, input_ids);
    constexpr std::int64_t token_type_count = 2;
    const Value types = table("token_type_embeddings", token_type_count, token_types);
    const Value sum = builder_.node("Add", {words, types});
    const Value placed = builder_.node("Add", {sum, positions(input_ids, sequence)});
    return norm("LayerNorm", placed);
  }

  Value table(std::string_view name, std::int64_t rows, const Value& indices) {
    auto scope = builder_.enter(name);
    const Value weight = builder_.weight("weight", {rows, architecture_.hidden_size}, matrix_fill);
    return builder_.node("Gather", {weight, indices}, {{"axis", std::int64_t{0}}});
  }

  // The table's first rows, one for each token: [sequence x hidden]
  Value positions(const Value& input_ids, const Dimension& sequence) {
    auto scope = builder_.enter("position_embeddings");
    const Value weight = builder_.weight(
        "weight", {architecture_.max_positions, architecture_.hidden_size}, matrix_fill);
    const Value zero = builder_.integers({0});
    const Value end = size_of(builder_, sequence, input_ids, 1, Rank::vector);
    return builder_.node("Slice", {weight, zero, end, zero});
  }

  Value layer(const Value& x, const Value& mask, const std::string& output) {
    const Value attended = attention_block(x, mask);
    Value inner;
    {
      auto scope = builder_.enter("intermediate");
      inner = gelu(
          biased("dense", attended, architecture_.hidden_size, architecture_.feed_forward_size));
    }
    auto scope = builder_.enter("output");
    const Value outer =
        biased("dense", inner, architecture_.feed_forward_size, architecture_.hidden_size);
    return norm("LayerNorm", builder_.node("Add", {outer, attended}), output);
  }

  Value attention_block(const Value& x, const Value& mask) {
    auto scope = builder_.enter("attention");
    Value attended;
    {
      auto self = builder_.enter("self");
      const Value queries = heads_of("query", x);
      const Value keys = heads_of("key", x);
      const Value values = heads_of("value", x);
      attended = attention(builder_, queries, keys, values, mask, architecture_);
    }
    auto output = builder_.enter("output");
    const Value dense =
        biased("dense", attended, architecture_.query_size(), architecture_.hidden_size);
    return norm("LayerNorm", builder_.node("Add", {dense, x}));
  }

  Value heads_of(std::string_view name, const Value& x) {
    const Value flat = biased(name, x, architecture_.hidden_size, architecture_.query_size());
    return swap_heads_and_tokens(
        builder_, split_heads(builder_, flat, architecture_.heads, architecture_.head_size));
  }

  Value biased(std::string_view name, const Value& x, std::int64_t inputs, std::int64_t outputs) {
    const Value product = linear(builder_, name, x, inputs, outputs);
    auto scope = builder_.enter(name);
    return builder_.node("Add", {product, builder_.weight("bias", {outputs}, bias_fill)});
  }

  Value norm(std::string_view name, const Value& x, const std::string& output = {}) {
    auto scope = builder_.enter(name);
    const Value scale = builder_.weight("weight", {architecture_.hidden_size}, norm_fill);
    const Value bias = builder_.weight("bias", {architecture_.hidden_size}, bias_fill);
    return builder_.node(
        "LayerNormalization", {x, scale, bias},
        {{"axis", std::int64_t{-1}}, {"epsilon", float(architecture_.norm_epsilon)}}, output);
  }

  // x / 2 * (1 + erf(x / sqrt(2)))
  Value gelu(const Value& x) {
    auto scope = builder_.enter("intermediate_act_fn");
    const Value scaled = builder_.node("Div", {x, builder_.number(std::sqrt(2.0))});
    const Value erf = builder_.node("Erf", {scaled});
    const Value raised = builder_.node("Add", {erf, builder_.number(1)});
    const Value product = builder_.node("Mul", {x, raised});
    return builder_.node("Mul", {product, builder_.number(0.5)});
  }

  OnnxBuilder& builder_;
  const Architecture& architecture_;
};

}  // namespace

void build_encoder(OnnxBuilder& builder, const Architecture& architecture,
                   const InputDimensions& dimensions) {
  Encoder(builder, architecture).build(dimensions);
}

}  // namespace npuscope::npu::models
