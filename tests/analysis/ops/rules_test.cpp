// Rules on the names of ops, against a twin that tries one pattern after another.
#include "npuscope/analysis/rules.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "analysis/profile_builder.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/base/pattern.hpp"

namespace npuscope::analysis::rules_test {
namespace {

using npuscope::test_support::ProfileBuilder;

constexpr const char* places[] = {"any", "node", "op", "kind", "operator"};

struct Condition {
  std::string place, pattern;
};

bool obeys(const RuledOp& op, const Condition& condition) {
  const Pattern pattern = Pattern::compile("", condition.pattern).value();
  const auto any_of = [&](std::initializer_list<std::string_view> texts) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](std::string_view text) { return pattern.found_in(text); });
  };
  const std::string_view label = op.node.empty() ? op.name : op.node;
  if (condition.place == "node") return any_of({label});
  if (condition.place == "op") return any_of({op.name});
  if (condition.place == "kind") return any_of({op.kind});
  if (condition.place == "any") return any_of({op.node, op.name, op.kind, op.node_kind});
  // A unit's name and, where the operator is known, the node's do not say what it does.
  const std::string_view last =
      op.node_kind.empty() ? label.substr(label.rfind('/') + 1) : std::string_view();
  if (op.kind_is_unit) return any_of({op.node_kind, last});
  return any_of({op.node_kind, op.kind, last});
}

TEST(Rules, SayWhereTheyAreWrong) {
  const auto error = [](const char* text) { return Rules::parse(text, "r.toml").error().message; };
  EXPECT_EQ(error("x = 1\n"), "r.toml:1: 'x' is unknown; the only key here is rule");
  EXPECT_EQ(error(""), "r.toml: [[rule]] is missing; add one");
  EXPECT_EQ(error("[[rule]]\nname = 'a'\n"),
            "r.toml:1: rule 'a' has no pattern; give it node, op, kind, operator or any");
  EXPECT_EQ(error("[[rule]]\nany = 'a'\n"), "r.toml:1: 'name' is missing");
  EXPECT_EQ(error("[[rule]]\nname = 'a'\nanny = 'a'\n"),
            "r.toml:3: 'anny' is unknown (did you mean 'any'?); the keys here are name, part, any, "
            "node, op, kind, operator");
  EXPECT_EQ(error("[[rule]]\nname = 3\n"), "r.toml:2: 'name' must be a text in quotes");
  EXPECT_TRUE(error("[[rule]]\nname = 'a'\nany = '('\n").starts_with("r.toml:3 '(': "));
  EXPECT_TRUE(error("[[rule\n").starts_with("r.toml:1: "));
}

// Rules::builtin does not look at the patterns before a name may have them.
TEST(Rules, EveryBuiltInFileIsOne) {
  for (const auto& file : std::filesystem::directory_iterator(NPUSCOPE_SOURCE_DIR "/rules")) {
    const auto text = MappedFile::open(file.path());
    ASSERT_TRUE(text);
    const auto parsed = Rules::parse(as_text(text->bytes()), file.path().filename());
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->size(), Rules::builtin(file.path().stem().string()).value().size());
  }
}

TEST(Rules, OfTransformersKnowTheNamesOfExporters) {
  const auto rules = Rules::builtin("transformer");
  ASSERT_TRUE(rules) << rules.error().message;
  const std::pair<const char*, const char*> names[] = {
      {"/model/layers.3/self_attn/q_proj/MatMul", "q projection"},
      {"/model/layers.3/self_attn/k_proj/MatMul", "k projection"},
      {"/model/layers.3/self_attn/v_proj/MatMul", "v projection"},
      {"/model/layers.3/self_attn/o_proj/MatMul", "o projection"},
      {"/model/layers.3/mlp/gate_proj/MatMul", "gate projection"},
      {"/model/layers.3/mlp/up_proj/MatMul", "up projection"},
      {"/model/layers.3/mlp/down_proj/MatMul", "down projection"},
      {"/model/layers.3/self_attn/Softmax", "attention: softmax"},
      {"/model/layers.3/self_attn/MatMul", "attention: scores (q x k)"},
      {"/model/layers.3/self_attn/MatMul_1", "attention: values (softmax x v)"},
      {"/model/layers.3/input_layernorm/Pow", "norm"},
      {"/model/layers.3/mlp/experts.7/down_proj/MatMul", "experts"},
      {"/model/embed_tokens/Gather", "embedding"},
      {"/lm_head/MatMul", "lm head"},
      {"past_key.0", "KV cache"},
      {"SystemService_ChunkPreload_1269", "bookkeeping"},
      {"/encoder/layer.0/attention/self/query/MatMul", "q projection"},
      {"/encoder/layer.0/attention/output/dense/MatMul", "o projection"}};
  ProfileBuilder made;
  for (const auto& [name, rule] : names) made.op(name);
  const auto found = rules->of(made.profile);
  for (std::size_t i = 0; i < std::size(names); ++i) {
    ASSERT_LT(found[i], rules->size()) << names[i].first;
    EXPECT_EQ(rules->name(found[i]), names[i].second) << names[i].first;
  }
}

// Several conditions of a rule, texts that are the same, empty or no UTF-8 among them.
TEST(Rules, OfEachOpAreThoseThatTryingAllPatternsGives) {
  const std::string texts[] = {"",
                               "/a/conv_1",
                               "a/b/MatMul",
                               "MatMul",
                               "MatMul_12",
                               "/Softmax",
                               "conv",
                               "a\xff"
                               "b",
                               "/",
                               "Convert"};
  const char* patterns[] = {"(?i)matmul", "conv([^e]|$)", "^a/",   "^$",
                            "_[0-9]+$",   "b$",           "^Soft", "."};
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    const auto one_of = [&](const auto& list) { return list[random() % std::size(list)]; };
    std::string toml;
    std::vector<std::vector<Condition>> rules(1 + random() % 6);
    for (std::vector<Condition>& rule : rules) {
      toml += fmt::format("[[rule]]\nname = 'r'\n");
      for (const char* place : places) {
        if (random() % 3 != 0 && (place != places[4] || !rule.empty())) continue;
        rule.push_back({place, one_of(patterns)});
        toml += fmt::format("{} = '{}'\n", place, rule.back().pattern);
      }
    }
    const auto parsed = Rules::parse(toml, "r.toml");
    ASSERT_TRUE(parsed) << parsed.error().message << toml;
    std::vector<RuledOp> ops(40);
    for (RuledOp& op : ops) {
      const std::string &node = texts[random() % 10], &other = texts[random() % 10];
      op = {node, random() % 2 ? node : other, texts[random() % 10], texts[random() % 10],
            random() % 4 == 0};
    }
    const std::vector<std::uint32_t> found = parsed->of(ops);
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const auto first = std::find_if(rules.begin(), rules.end(), [&](const auto& rule) {
        return std::all_of(rule.begin(), rule.end(),
                           [&](const Condition& each) { return obeys(ops[i], each); });
      });
      EXPECT_EQ(found[i], first - rules.begin()) << toml << ops[i].node << '|' << ops[i].name;
    }
  }
}

TEST(Rules, WithoutAnyNoOpObeysOne) {
  ProfileBuilder made;
  made.op("a");
  EXPECT_THAT(Rules().of(made.profile), ::testing::ElementsAre(0));
}

TEST(Rules, APatternThatIsTooLargeIsRefusedWithItsLine) {
  const auto rules = Rules::parse("[[rule]]\nname = 'a'\nany = '((a{100}){100}){100}'\n", "r.toml");
  ASSERT_FALSE(rules);
  EXPECT_EQ(
      rules.error().message,
      "r.toml:3 '((a{100}){100}){100}': the regular expression is too large; repeat less in it");
}

// Each is within what one pattern may take.
TEST(Rules, PatternsThatAreTooLargeTogetherAreRefused) {
  std::string toml;
  for (int i = 0; i < 990; ++i) {
    toml +=
        fmt::format("[[rule]]\nname = 'a'\nany = '({}{}{{30}}){{30}}'\n", std::string(60, 'a'), i);
  }
  const auto rules = Rules::parse(toml, "r.toml");
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().message,
            "r.toml: the regular expressions are too large together; repeat less in them");
}

}  // namespace
}  // namespace npuscope::analysis::rules_test
