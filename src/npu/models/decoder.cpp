#include <cmath>

#include "npu/models/onnx_builder.hpp"

namespace npuscope::npu::models {
namespace {

// One layer's share of the retained state, and what its keys and values become.
struct State {
  Value keys;
  Value values;
};

class Decoder {
 public:
  Decoder(OnnxBuilder& builder, const Architecture& architecture)
      : builder_(builder), architecture_(architecture) {}

  void build(const InputDimensions& dimensions) {
    const Dimensions tokens{dimensions.batch, dimensions.sequence};
    input_ids_ = builder_.input("input_ids", ElementType::int64, tokens);
    position_ids_ = builder_.input("position_ids", ElementType::int64, tokens);
    const Dimensions state_shape{dimensions.batch, architecture_.key_value_heads,
                                 dimensions.context, architecture_.head_size};
    std::vector<State> past;
    for (std::int64_t i = 0; i < architecture_.layers; ++i) {
      past.push_back(
          {builder_.input(fmt::format("past_key.{}", i), ElementType::model, state_shape),
           builder_.input(fmt::format("past_value.{}", i), ElementType::model, state_shape)});
    }
    logits(model(past, dimensions));
    builder_.output("logits", ElementType::model,
                    {dimensions.batch, 1, architecture_.vocabulary_size});
    for (const State& state : past) {
      builder_.output(state.keys + retained_suffix, ElementType::model, state_shape);
      builder_.output(state.values + retained_suffix, ElementType::model, state_shape);
    }
  }

 private:
  static constexpr const char* retained_suffix = "_RetainedState";

  // All layers and the last norm: [batch x sequence x hidden]
  Value model(const std::vector<State>& past, const InputDimensions& dimensions) {
    auto scope = builder_.enter("model");
    Value x = embed();
    compute_rotary_tables();
    compute_state_indices(dimensions);
    compute_mask(past.front(), dimensions);
    for (std::size_t i = 0; i < past.size(); ++i) {
      auto layer_scope = builder_.enter(fmt::format("layers.{}", i));
      x = layer(x, past[i]);
    }
    return rms_norm("norm", x, architecture_.hidden_size);
  }

  Value embed() {
    auto scope = builder_.enter("embed_tokens");
    embedding_ = builder_.weight(
        "weight", {architecture_.vocabulary_size, architecture_.hidden_size}, matrix_fill);
    return builder_.node("Gather", {embedding_, input_ids_}, {{"axis", std::int64_t{0}}});
  }

  // Of the last token only: [batch x 1 x vocabulary]
  void logits(const Value& x) {
    const NodeAttributes tokens_axis{{"axis", std::int64_t{1}}};
    if (!architecture_.tied_embeddings) {
      const Value last = builder_.node("Gather", {x, builder_.integers({-1})}, tokens_axis);
      auto scope = builder_.enter("lm_head");
      const Value weight = builder_.weight(
          "weight", {architecture_.hidden_size, architecture_.vocabulary_size}, matrix_fill);
      builder_.node("MatMul", {last, weight}, {}, "logits");
      return;
    }
    const Value last = builder_.node("Gather", {x, builder_.integer(-1)}, tokens_axis);
    auto scope = builder_.enter("lm_head");
    const Value flat = builder_.node("Gemm", {last, embedding_}, {{"transB", std::int64_t{1}}});
    builder_.node("Unsqueeze", {flat, builder_.integers({1})}, {}, "logits");
  }

  // Cosines and sines of every token's angles: [batch x 1 x sequence x head size]
  void compute_rotary_tables() {
    auto scope = builder_.enter("rotary_emb");
    std::vector<float> frequencies;
    for (std::int64_t i = 0; i < architecture_.head_size / 2; ++i) {
      const double exponent = double(2 * i) / double(architecture_.head_size);
      frequencies.push_back(float(std::pow(architecture_.rotary_base, -exponent)));
    }
    const Value frequency = builder_.float32s("model.rotary_emb.inv_freq", frequencies);
    const Value columns = builder_.node("Unsqueeze", {position_ids_, builder_.integers({1, 3})});
    const Value position = cast(columns, ElementType::float32);
    const Value angle = builder_.node("Mul", {position, frequency});
    const Value angles = builder_.node("Concat", {angle, angle}, {{"axis", std::int64_t{-1}}});
    cosines_ = to_model_precision(builder_.node("Cos", {angles}));
    sines_ = to_model_precision(builder_.node("Sin", {angles}));
  }

  // Where the new keys and values go, [batch, head, position] of each token and head:
  // [batch x key/value heads x sequence x 3]
  void compute_state_indices(const InputDimensions& dimensions) {
    auto scope = builder_.enter("state_indices");
    const std::int64_t head_count = architecture_.key_value_heads;
    const Value target =
        builder_.node("Concat",
                      {size_of(builder_, dimensions.batch, position_ids_, 0, Rank::vector),
                       builder_.integers({head_count}),
                       size_of(builder_, dimensions.sequence, position_ids_, 1, Rank::vector),
                       builder_.integers({1})},
                      {{"axis", std::int64_t{0}}});

    const Value batch = size_of(builder_, dimensions.batch, position_ids_, 0, Rank::scalar);
    const Value rows = builder_.node("Range", {builder_.integer(0), batch, builder_.integer(1)});
    const Value row = builder_.node("Unsqueeze", {rows, builder_.integers({1, 2, 3})});
    Integers numbers;
    for (std::int64_t i = 0; i < head_count; ++i) numbers.push_back(i);
    const Value head =
        builder_.integers("model.state_indices.heads", numbers, {1, head_count, 1, 1});
    const Value position = builder_.node("Unsqueeze", {position_ids_, builder_.integers({1, 3})});

    std::vector<Value> parts;
    for (const Value& part : {row, head, position}) {
      parts.push_back(builder_.node("Expand", {part, target}));
    }
    state_indices_ = builder_.node("Concat", parts, {{"axis", std::int64_t{-1}}});
  }

  // Zero up to a token's own position, masked_score after: [batch x 1 x sequence x context]
  void compute_mask(const State& past, const InputDimensions& dimensions) {
    auto scope = builder_.enter("causal_mask");
    constexpr std::int64_t context_axis = 2;
    const Value context =
        size_of(builder_, dimensions.context, past.keys, context_axis, Rank::scalar);
    const Value positions =
        builder_.node("Range", {builder_.integer(0), context, builder_.integer(1)});
    const Value own = builder_.node("Unsqueeze", {position_ids_, builder_.integers({1, 3})});
    const Value later = builder_.node("Greater", {positions, own});
    mask_ = builder_.node("Where", {later, builder_.number(masked_score), builder_.number(0)});
  }

  Value layer(const Value& x, const State& past) {
    const Value attended =
        attention_block(rms_norm("input_layernorm", x, architecture_.hidden_size), past);
    const Value y = builder_.node("Add", {x, attended});
    const Value fed =
        feed_forward(rms_norm("post_attention_layernorm", y, architecture_.hidden_size));
    return builder_.node("Add", {y, fed});
  }

  Value attention_block(const Value& x, const State& past) {
    auto scope = builder_.enter("self_attn");
    const Architecture& a = architecture_;
    const Value flat_queries = linear(builder_, "q_proj", x, a.hidden_size, a.query_size());
    const Value flat_keys = linear(builder_, "k_proj", x, a.hidden_size, a.key_value_size());
    const Value flat_values = linear(builder_, "v_proj", x, a.hidden_size, a.key_value_size());
    const Value queries = rotated(normalized_heads("q_norm", flat_queries, a.heads));
    const Value new_keys = rotated(normalized_heads("k_norm", flat_keys, a.key_value_heads));
    const Value new_values = swap_heads_and_tokens(
        builder_, split_heads(builder_, flat_values, a.key_value_heads, a.head_size));
    const Value keys = repeated(updated(past.keys, new_keys));
    const Value values = repeated(updated(past.values, new_values));
    const Value attended = attention(builder_, queries, keys, values, mask_, a);
    return linear(builder_, "o_proj", attended, a.query_size(), a.hidden_size);
  }

  Value normalized_heads(std::string_view norm, const Value& flat, std::int64_t heads) {
    Value split = split_heads(builder_, flat, heads, architecture_.head_size);
    if (architecture_.query_key_norm) split = rms_norm(norm, split, architecture_.head_size);
    return swap_heads_and_tokens(builder_, split);
  }

  // Turns the pair (i, i + head size / 2) of each head by its token's angle i.
  Value rotated(const Value& x) {
    const std::int64_t half = architecture_.head_size / 2;
    const Value axis = builder_.integers({3});
    const Value first =
        builder_.node("Slice", {x, builder_.integers({0}), builder_.integers({half}), axis});
    const Value second =
        builder_.node("Slice", {x, builder_.integers({half}), builder_.integers({2 * half}), axis});
    const Value negated = builder_.node("Neg", {second});
    const Value turned = builder_.node("Concat", {negated, first}, {{"axis", std::int64_t{-1}}});
    const Value along = builder_.node("Mul", {x, cosines_});
    const Value across = builder_.node("Mul", {turned, sines_});
    return builder_.node("Add", {along, across});
  }

  Value updated(const Value& past, const Value& added) {
    return builder_.node("ScatterND", {past, state_indices_, added}, {}, past + retained_suffix);
  }

  // Each key/value head for all the query heads that share it.
  Value repeated(const Value& state) {
    const std::int64_t sharing = architecture_.heads / architecture_.key_value_heads;
    if (sharing == 1) return state;
    const Value apart = builder_.node("Unsqueeze", {state, builder_.integers({2})});
    const Value copies = builder_.node("Expand", {apart, builder_.integers({1, 1, sharing, 1, 1})});
    return builder_.node(
        "Reshape",
        {copies, builder_.integers({0, architecture_.heads, -1, architecture_.head_size})});
  }

  Value feed_forward(const Value& x) {
    auto scope = builder_.enter("mlp");
    const Architecture& a = architecture_;
    const Value gate = linear(builder_, "gate_proj", x, a.hidden_size, a.feed_forward_size);
    Value activated;
    {
      auto activation = builder_.enter("act_fn");
      activated = builder_.node("Mul", {gate, builder_.node("Sigmoid", {gate})});
    }
    const Value up = linear(builder_, "up_proj", x, a.hidden_size, a.feed_forward_size);
    const Value product = builder_.node("Mul", {activated, up});
    return linear(builder_, "down_proj", product, a.feed_forward_size, a.hidden_size);
  }

  // weight * x / sqrt(mean(x * x) + epsilon) over the last dimension
  Value rms_norm(std::string_view name, const Value& x, std::int64_t size) {
    auto scope = builder_.enter(name);
    const Value squares = builder_.node("Pow", {x, builder_.number(2)});
    const Value mean = builder_.node("ReduceMean", {squares},
                                     {{"axes", Integers{-1}}, {"keepdims", std::int64_t{1}}});
    const Value raised = builder_.node("Add", {mean, builder_.number(architecture_.norm_epsilon)});
    const Value root = builder_.node("Sqrt", {raised});
    const Value inverse = builder_.node("Div", {builder_.number(1), root});
    const Value normalized = builder_.node("Mul", {x, inverse});
    return builder_.node("Mul", {builder_.weight("weight", {size}, norm_fill), normalized});
  }

  Value cast(const Value& x, ElementType type) {
    return builder_.node("Cast", {x}, {{"to", builder_.type_number(type)}});
  }

  Value to_model_precision(const Value& x) {
    const bool already =
        builder_.type_number(ElementType::model) == builder_.type_number(ElementType::float32);
    return already ? x : cast(x, ElementType::model);
  }

  OnnxBuilder& builder_;
  const Architecture& architecture_;
  Value input_ids_, position_ids_;
  Value embedding_;
  Value cosines_, sines_;
  Value state_indices_;
  Value mask_;
};

}  // namespace

void build_decoder(OnnxBuilder& builder, const Architecture& architecture,
                   const InputDimensions& dimensions) {
  Decoder(builder, architecture).build(dimensions);
}

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
