// What generated models compute, run by a slow interpreter with random weights: they are the
// transformers they are named after, and their retained state works.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "npu/models/onnx_interpreter.hpp"
#include "npu/models/reference.hpp"
#include "npuscope/npu/models/generate_onnx.hpp"

namespace npuscope::npu::behaviour_test {
namespace {

using test_support::Array;
using test_support::Arrays;
using test_support::interpret;
using test_support::part;
using test_support::random_array;
using test_support::reference_logits;
using test_support::Row;

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

void PrintTo(const DecoderForm& form, std::ostream* out) { *out << form.name; }

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
  expect_near(part(logits.values, 0, a.vocabulary_size), reference_logits(a, {3, 16, 0, 5}));
  expect_near(part(logits.values, 1, a.vocabulary_size), reference_logits(a, {5, 5, 1, 2}));
}

TEST_P(DecoderBehaviour, DecodingTokenByTokenContinuesAPrefill) {
  const Architecture a = architecture();
  RetainedState state(a, 1, 7);
  state.run(generate(a, {.batch = 1, .sequence = 3, .context = 7}), {{3, 16, 0}}, 0);
  const auto decode = generate(a, {.batch = 1, .sequence = 1, .context = 7});
  state.run(decode, {{9}}, 3);
  const Array logits = state.run(decode, {{12}}, 4);
  expect_near(logits.values, reference_logits(a, {3, 16, 0, 9, 12}));
}

TEST_P(DecoderBehaviour, SymbolicModelsComputeTheSame) {
  const Architecture a = architecture();
  const auto model = generate(a, {}, {.symbolic = true, .precision = FloatType::float32});
  const Array logits = RetainedState(a, 1, 5).run(model, {{8, 1}}, 0);
  expect_near(logits.values, reference_logits(a, {8, 1}));
}

INSTANTIATE_TEST_SUITE_P(Forms, DecoderBehaviour,
                         ::testing::Values(DecoderForm{"grouped", false, false, 2},
                                           DecoderForm{"all_heads", false, false, 4},
                                           DecoderForm{"tied_and_normed", true, true, 2}),
                         [](const auto& form) { return form.param.name; });

// --- running the generated encoder ---

std::vector<Row> hidden_states(const Architecture& architecture,
                               const std::vector<test_support::EncoderToken>& tokens) {
  const auto count = std::int64_t(tokens.size());
  Arrays inputs;
  for (const char* name : {"input_ids", "attention_mask", "token_type_ids"}) {
    inputs[name].shape = {1, count};
  }
  for (const auto& token : tokens) {
    inputs["input_ids"].values.push_back(double(token.id));
    inputs["attention_mask"].values.push_back(token.attended ? 1 : 0);
    inputs["token_type_ids"].values.push_back(double(token.type));
  }
  const auto model = generate(architecture, {.batch = 1, .sequence = count, .context = 0});
  const Array out = interpret(model, inputs).at("last_hidden_state");
  std::vector<Row> rows;
  for (std::int64_t i = 0; i < count; ++i) {
    rows.push_back(part(out.values, i, architecture.hidden_size));
  }
  return rows;
}

TEST(EncoderBehaviour, GivesTheHiddenStateOfEveryToken) {
  const Architecture a = tiny_encoder();
  const std::vector<test_support::EncoderToken> tokens{{4, 0}, {10, 0}, {2, 1}, {0, 1}};
  const auto actual = hidden_states(a, tokens);
  const auto expected = test_support::reference_hidden_states(a, tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i) expect_near(actual[i], expected[i]);
}

TEST(EncoderBehaviour, PaddingDoesNotChangeTheTokens) {
  const Architecture a = tiny_encoder();
  const auto padded = hidden_states(a, {{4, 0}, {10, 0}, {2, 1}, {7, 0, false}, {7, 0, false}});
  const auto expected = test_support::reference_hidden_states(a, {{4, 0}, {10, 0}, {2, 1}});
  for (std::size_t i = 0; i < expected.size(); ++i) expect_near(padded[i], expected[i]);
}

}  // namespace
}  // namespace npuscope::npu::behaviour_test
