// What generated models compute, run by a slow interpreter with random weights: they are the
// transformers they are named after, and their retained state works.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "npu/models/onnx_interpreter.hpp"
#include "npuscope/npu/models/generate_onnx.hpp"

namespace npuscope::npu {
namespace {

using testing::Array;
using testing::Arrays;
using testing::interpret;
using testing::random_array;
using Row = std::vector<double>;

constexpr double tolerance = 1e-6;  // rotary frequencies and epsilons are float32 in the model

Architecture tiny_decoder() {
  ArchitectureChanges changes;
  changes.hidden_size = 12;
  changes.layers = 2;
  changes.heads = 4;
  changes.key_value_heads = 2;
  changes.head_size = 6;
  changes.feed_forward_size = 10;
  changes.vocabulary_size = 17;
  return *make_architecture("decoder", changes);
}

Architecture tiny_encoder() {
  ArchitectureChanges changes;
  changes.hidden_size = 8;
  changes.layers = 2;
  changes.heads = 2;
  changes.feed_forward_size = 12;
  changes.vocabulary_size = 11;
  changes.max_positions = 6;
  return *make_architecture("encoder", changes);
}

onnx::ModelProto generate(const Architecture& architecture, const InputSizes& sizes,
                          const GenerateOptions& options = {}) {
  const auto model = generate_onnx(architecture, sizes, options);
  onnx::ModelProto proto;
  EXPECT_TRUE(model && proto.ParseFromString(model->bytes));
  return proto;
}

// --- the decoder, written down once more, a token at a time ---

Row times(const Row& x, const std::string& weight, std::int64_t columns) {
  const Array w = random_array(weight, {std::int64_t(x.size()), columns});
  Row out(std::size_t(columns), 0);
  for (std::size_t k = 0; k < x.size(); ++k) {
    for (std::size_t c = 0; c < out.size(); ++c) {
      out[c] += x[k] * w.values[k * out.size() + c];
    }
  }
  return out;
}

Row sum(const Row& a, const Row& b) {
  Row out = a;
  for (std::size_t i = 0; i < a.size(); ++i) out[i] += b[i];
  return out;
}

Row rms_norm(const Row& x, const std::string& weight, double epsilon) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  const double scale = 1 / std::sqrt(squares / double(x.size()) + epsilon);
  Row out = random_array(weight, {std::int64_t(x.size())}).values;
  for (std::size_t i = 0; i < x.size(); ++i) out[i] *= x[i] * scale;
  return out;
}

Row part(const Row& x, std::int64_t index, std::int64_t size) {
  return {x.begin() + index * size, x.begin() + (index + 1) * size};
}

Row rotated(const Row& x, std::int64_t position, double base) {
  Row out = x;
  const std::size_t half = x.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    const double angle = double(position) * std::pow(base, -double(2 * i) / double(x.size()));
    out[i] = x[i] * std::cos(angle) - x[i + half] * std::sin(angle);
    out[i + half] = x[i + half] * std::cos(angle) + x[i] * std::sin(angle);
  }
  return out;
}

// Logits of the last of `tokens`, the first at position 0.
class ReferenceDecoder {
 public:
  explicit ReferenceDecoder(const Architecture& architecture)
      : a_(architecture), layers_(std::size_t(architecture.layers)) {}

  Row logits(const std::vector<std::int64_t>& tokens) {
    Row x;
    const Array table =
        random_array("model.embed_tokens.weight", {a_.vocabulary_size, a_.hidden_size});
    for (std::size_t position = 0; position < tokens.size(); ++position) {
      x = part(table.values, tokens[position], a_.hidden_size);
      for (std::size_t i = 0; i < layers_.size(); ++i) {
        x = layer(x, i, std::int64_t(position));
      }
    }
    x = rms_norm(x, "model.norm.weight", a_.norm_epsilon);
    if (!a_.tied_embeddings) return times(x, "lm_head.weight", a_.vocabulary_size);
    Row out;
    for (std::int64_t token = 0; token < a_.vocabulary_size; ++token) {
      out.push_back(dot(x, part(table.values, token, a_.hidden_size)));
    }
    return out;
  }

 private:
  struct Head {
    Row key, value;
  };
  using Token = std::vector<Head>;  // one for each key/value head

  static double dot(const Row& a, const Row& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }

  Row prepared(const Row& head, const std::string& norm, std::int64_t position) const {
    const Row x = a_.query_key_norm ? rms_norm(head, norm, a_.norm_epsilon) : head;
    return rotated(x, position, a_.rotary_base);
  }

  Row layer(const Row& x, std::size_t index, std::int64_t position) {
    const std::string path = "model.layers." + std::to_string(index) + ".";
    const Row h = rms_norm(x, path + "input_layernorm.weight", a_.norm_epsilon);
    const Row attended = attention(h, path + "self_attn.", layers_[index], position);
    const Row y = sum(x, times(attended, path + "self_attn.o_proj.weight", a_.hidden_size));
    const Row g = rms_norm(y, path + "post_attention_layernorm.weight", a_.norm_epsilon);
    Row gate = times(g, path + "mlp.gate_proj.weight", a_.feed_forward_size);
    const Row up = times(g, path + "mlp.up_proj.weight", a_.feed_forward_size);
    for (std::size_t i = 0; i < gate.size(); ++i) gate[i] *= up[i] / (1 + std::exp(-gate[i]));
    return sum(y, times(gate, path + "mlp.down_proj.weight", a_.hidden_size));
  }

  Row attention(const Row& h, const std::string& path, std::vector<Token>& past,
                std::int64_t position) {
    const Row q = times(h, path + "q_proj.weight", a_.query_size());
    const Row k = times(h, path + "k_proj.weight", a_.key_value_size());
    const Row v = times(h, path + "v_proj.weight", a_.key_value_size());
    Token token;
    for (std::int64_t i = 0; i < a_.key_value_heads; ++i) {
      token.push_back({prepared(part(k, i, a_.head_size), path + "k_norm.weight", position),
                       part(v, i, a_.head_size)});
    }
    past.push_back(token);
    Row out;
    for (std::int64_t i = 0; i < a_.heads; ++i) {
      const auto shared = std::size_t(i / (a_.heads / a_.key_value_heads));
      const Row query = prepared(part(q, i, a_.head_size), path + "q_norm.weight", position);
      Row mixed(std::size_t(a_.head_size), 0);
      double total = 0;
      for (const Token& other : past) {
        const double share =
            std::exp(dot(query, other[shared].key) / std::sqrt(double(a_.head_size)));
        total += share;
        for (std::size_t e = 0; e < mixed.size(); ++e) mixed[e] += share * other[shared].value[e];
      }
      for (const double element : mixed) out.push_back(element / total);
    }
    return out;
  }

  const Architecture a_;
  std::vector<std::vector<Token>> layers_;
};

// --- running the generated decoder ---

class RetainedState {
 public:
  RetainedState(const Architecture& architecture, std::int64_t batch, std::int64_t context)
      : architecture_(architecture) {
    // What an earlier conversation left behind must not show.
    const std::vector<std::int64_t> shape{batch, architecture.key_value_heads, context,
                                          architecture.head_size};
    for (std::int64_t i = 0; i < architecture.layers; ++i) {
      for (const char* name : {"past_key.", "past_value."}) {
        state_[name + std::to_string(i)] = random_array("leftover", shape);
      }
    }
  }

  // Runs the model on tokens [batch x sequence] that start at `position`; gives the logits.
  Array run(const onnx::ModelProto& model, const std::vector<Row>& tokens, double position) {
    Array ids{{std::int64_t(tokens.size()), std::int64_t(tokens[0].size())}, {}};
    Array positions = ids;
    for (const Row& row : tokens) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        ids.values.push_back(row[i]);
        positions.values.push_back(position + double(i));
      }
    }
    Arrays inputs = state_;
    inputs["input_ids"] = ids;
    inputs["position_ids"] = positions;
    const Arrays values = interpret(model, inputs);
    for (auto& [name, array] : state_) array = values.at(name + "_RetainedState");
    return values.at("logits");
  }

 private:
  const Architecture architecture_;
  Arrays state_;
};

void expect_near(const Row& actual, const Row& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], tolerance) << "element " << i;
  }
}

struct DecoderForm {
  const char* name;
  bool tied, norm;
  std::int64_t key_value_heads;
};

class DecoderBehaviour : public ::testing::TestWithParam<DecoderForm> {
 protected:
  Architecture architecture() const {
    Architecture a = tiny_decoder();
    a.tied_embeddings = GetParam().tied;
    a.query_key_norm = GetParam().norm;
    a.key_value_heads = GetParam().key_value_heads;
    return a;
  }
};

TEST_P(DecoderBehaviour, PrefillGivesTheLogitsOfTheLastToken) {
  const Architecture a = architecture();
  const auto model = generate(a, {.batch = 2, .sequence = 4, .context = 7});
  const Array logits = RetainedState(a, 2, 7).run(model, {{3, 16, 0, 5}, {5, 5, 1, 2}}, 0);
  ASSERT_EQ(logits.shape, (std::vector<std::int64_t>{2, 1, a.vocabulary_size}));
  expect_near(part(logits.values, 0, a.vocabulary_size), ReferenceDecoder(a).logits({3, 16, 0, 5}));
  expect_near(part(logits.values, 1, a.vocabulary_size), ReferenceDecoder(a).logits({5, 5, 1, 2}));
}

TEST_P(DecoderBehaviour, DecodingTokenByTokenContinuesAPrefill) {
  const Architecture a = architecture();
  RetainedState state(a, 1, 7);
  state.run(generate(a, {.batch = 1, .sequence = 3, .context = 7}), {{3, 16, 0}}, 0);
  const auto decode = generate(a, {.batch = 1, .sequence = 1, .context = 7});
  state.run(decode, {{9}}, 3);
  const Array logits = state.run(decode, {{12}}, 4);
  expect_near(logits.values, ReferenceDecoder(a).logits({3, 16, 0, 9, 12}));
}

TEST_P(DecoderBehaviour, SymbolicModelsComputeTheSame) {
  const Architecture a = architecture();
  const auto model = generate(a, {}, {.symbolic = true, .precision = FloatType::float32});
  const Array logits = RetainedState(a, 1, 5).run(model, {{8, 1}}, 0);
  expect_near(logits.values, ReferenceDecoder(a).logits({8, 1}));
}

INSTANTIATE_TEST_SUITE_P(Forms, DecoderBehaviour,
                         ::testing::Values(DecoderForm{"grouped", false, false, 2},
                                           DecoderForm{"all_heads", false, false, 4},
                                           DecoderForm{"tied_and_normed", true, true, 2}),
                         [](const auto& form) { return form.param.name; });

// --- the encoder ---

Arrays encoder_inputs(const Row& tokens, const Row& mask) {
  const std::vector<std::int64_t> shape{1, std::int64_t(tokens.size())};
  return {{"input_ids", {shape, tokens}},
          {"attention_mask", {shape, mask}},
          {"token_type_ids", {shape, Row(tokens.size(), 0)}}};
}

TEST(EncoderBehaviour, PaddingDoesNotChangeTheTokens) {
  const Architecture a = tiny_encoder();
  const auto three = interpret(generate(a, {.batch = 1, .sequence = 3, .context = 0}),
                               encoder_inputs({4, 10, 2}, {1, 1, 1}));
  const auto padded = interpret(generate(a, {.batch = 1, .sequence = 5, .context = 0}),
                                encoder_inputs({4, 10, 2, 7, 7}, {1, 1, 1, 0, 0}));
  const Array& expected = three.at("last_hidden_state");
  const Array& actual = padded.at("last_hidden_state");
  ASSERT_EQ(actual.shape, (std::vector<std::int64_t>{1, 5, a.hidden_size}));
  expect_near({actual.values.begin(), actual.values.begin() + expected.size()}, expected.values);
}

TEST(EncoderBehaviour, PositionsMatterAndEveryTokenSeesEveryOther) {
  const Architecture a = tiny_encoder();
  const auto model = generate(a, {.batch = 1, .sequence = 3, .context = 0});
  const auto first = [&](const Row& tokens) {
    const auto values = interpret(model, encoder_inputs(tokens, {1, 1, 1}));
    return part(values.at("last_hidden_state").values, 0, a.hidden_size);
  };
  const Row base = first({4, 10, 2});
  for (const Row& other : {first({4, 2, 10}), first({4, 10, 3}), first({5, 10, 2})}) {
    double distance = 0;
    for (std::size_t i = 0; i < base.size(); ++i) distance += std::fabs(base[i] - other[i]);
    EXPECT_GT(distance, 1e-3);
  }
}

}  // namespace
}  // namespace npuscope::npu
