#include "npuscope/npu/models/architecture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace npuscope::npu::architecture_test {
namespace {

Architecture preset(std::string_view name) { return *make_architecture(name, {}); }

ArchitectureChanges smallest_custom() {
  ArchitectureChanges changes;
  changes.hidden_size = 64;
  changes.layers = 2;
  changes.heads = 4;
  changes.feed_forward_size = 128;
  changes.vocabulary_size = 100;
  return changes;
}

std::string usage_message(const Status& status) {
  if (status) return "no error";
  EXPECT_EQ(status.error().kind, ErrorKind::usage);
  return status.error().message;
}

std::string usage_message(const Result<Architecture>& result) {
  return usage_message(result ? Status{} : Status(tl::unexpected(result.error())));
}

TEST(Presets, AreValidAtTheirDefaultSizes) {
  for (const Preset& each : presets()) {
    EXPECT_EQ(usage_message(validate(each.architecture, default_sizes(each.architecture))),
              "no error")
        << each.architecture.name;
  }
}

TEST(MakeArchitecture, ChangesOnlyWhatIsAskedFor) {
  ArchitectureChanges changes;
  changes.layers = 3;
  changes.name = "short amber";
  const Architecture amber = *make_architecture("amber-7b", changes);
  EXPECT_EQ(amber.name, "short amber");
  EXPECT_EQ(amber.layers, 3);
  EXPECT_EQ(amber.hidden_size, 4096);
  EXPECT_EQ(amber.head_size, 128);
  EXPECT_EQ(amber.feed_forward_size, 11008);
}

TEST(MakeArchitecture, FillsInWhatACustomDecoderLeavesOpen) {
  const Architecture custom = *make_architecture("decoder", smallest_custom());
  EXPECT_EQ(custom.name, "decoder");
  EXPECT_EQ(custom.key_value_heads, 4);
  EXPECT_EQ(custom.head_size, 16);
  EXPECT_FALSE(custom.tied_embeddings);
}

TEST(MakeArchitecture, FillsInWhatACustomEncoderLeavesOpen) {
  const Architecture custom = *make_architecture("encoder", smallest_custom());
  EXPECT_EQ(custom.kind, ModelKind::encoder);
  EXPECT_EQ(custom.max_positions, 512);
  const InputSizes sizes = default_sizes(custom);
  EXPECT_EQ(sizes.sequence, 128);
  EXPECT_EQ(sizes.context, 0);
}

TEST(MakeArchitecture, NamesTheKnownModelsWhenOneIsUnknown) {
  EXPECT_EQ(usage_message(make_architecture("amber", {})),
            "unknown model 'amber'; use one of amber-7b, qwen3-0.6b, bert-base, decoder, encoder");
}

TEST(MakeArchitecture, SaysWhichSizeACustomModelLacks) {
  ArchitectureChanges changes = smallest_custom();
  changes.feed_forward_size.reset();
  EXPECT_EQ(usage_message(make_architecture("encoder", changes)),
            "an encoder needs its feed-forward size; give it, or start from a preset");
}

TEST(MakeArchitecture, RefusesHiddenSizesThatHeadsDoNotDivide) {
  ArchitectureChanges changes = smallest_custom();
  for (const std::int64_t heads : {5, 0, -4}) {
    changes.heads = heads;
    EXPECT_THAT(usage_message(make_architecture("decoder", changes)),
                ::testing::HasSubstr("does not split into"));
  }
}

TEST(MakeArchitecture, RefusesChangesThatTheKindDoesNotHave) {
  ArchitectureChanges positions;
  positions.max_positions = 64;
  EXPECT_EQ(usage_message(make_architecture("amber-7b", positions)),
            "a decoder has no table of positions; leave its size away");
  ArchitectureChanges tied;
  tied.tied_embeddings = true;
  EXPECT_THAT(usage_message(make_architecture("bert-base", tied)),
              ::testing::HasSubstr("an encoder has no tied embeddings"));
}

struct Refusal {
  std::string_view base;
  std::function<void(Architecture&, InputSizes&)> spoil;
  std::string message;
};

TEST(Validate, SaysWhatDoesNotFitAndWhatToDo) {
  const Refusal refusals[] = {
      {"amber-7b", [](auto& a, auto&) { a.name = ""; },
       "the name \"\" is not plain UTF-8 text; take letters and digits"},
      {"amber-7b", [](auto& a, auto&) { a.name = "\xFF"; },
       "the name \"\xFF\" is not plain UTF-8 text; take letters and digits"},
      {"amber-7b", [](auto&, auto& s) { s.sequence = 129; },
       "a sequence of 129 tokens exceeds the context of 128; raise the context"},
      {"amber-7b", [](auto& a, auto&) { a.key_value_heads = 5; },
       "32 heads do not share 5 key/value heads evenly; take a divisor"},
      {"amber-7b", [](auto& a, auto&) { a.head_size = 127; },
       "head size 127 is odd but rotary positions turn pairs; take an even one"},
      {"amber-7b", [](auto& a, auto&) { a.rotary_base = 1; },
       "rotary base 1 is not above 1; published models take 10000 and more"},
      {"amber-7b", [](auto& a, auto&) { a.rotary_base = -std::numeric_limits<double>::infinity(); },
       "rotary base -inf is not above 1; published models take 10000 and more"},
      {"amber-7b", [](auto& a, auto&) { a.layers = 0; },
       "the number of layers is 0; take 1 to 4096"},
      {"amber-7b", [](auto& a, auto&) { a.layers = std::int64_t{1} << 62; },
       "the number of layers is 4611686018427387904; take 1 to 4096"},
      {"amber-7b", [](auto&, auto& s) { s.batch = -1; }, "batch is -1; take 1 to 1048576"},
      {"amber-7b", [](auto& a, auto&) { a.key_value_heads = 0; },
       "the number of key/value heads is 0; take 1 to 16384"},
      {"bert-base", [](auto&, auto& s) { s.sequence = 513; },
       "a sequence of 513 tokens exceeds the 512 positions; raise the positions"},
      {"bert-base", [](auto&, auto& s) { s.context = 128; },
       "an encoder has no context; leave it away"},
      {"bert-base", [](auto& a, auto&) { a.key_value_heads = 4; },
       "an encoder has as many key/value heads as heads (12), not 4"},
  };
  for (const Refusal& refusal : refusals) {
    Architecture architecture = preset(refusal.base);
    InputSizes sizes = default_sizes(architecture);
    refusal.spoil(architecture, sizes);
    EXPECT_EQ(usage_message(validate(architecture, sizes)), refusal.message);
  }
}

}  // namespace
}  // namespace npuscope::npu::architecture_test
