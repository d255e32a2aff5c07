// Stand-ins for names.
#include "profile/scrub_names.hpp"

#include <gtest/gtest.h>

#include "profile/texts.hpp"

namespace npuscope {
namespace {

Profile profile_with_names() {
  Profile profile;
  const auto id = [&](const char* text) { return profile.strings.intern(text); };
  profile.provenance.files = {"/home/user/secret.json", "secret2.csv"};
  profile.provenance.graph = "secret_graph";
  Unit host, npu;
  host.engine = Engine::process;
  host.name = id("secret host");
  npu.engine = Engine::hvx;
  npu.name = id("HVX 0");
  profile.units = {host, npu};
  Op op;
  op.name = op.node = id("secret.layer");
  op.kind = id("q::Conv");
  op.attributes = id("weights of secret");
  op.identity = id("secret identity");
  op.split_from = id("secret program");
  profile.ops = {op, op};
  profile.ops[1].name = id("secret.other");
  Tensor tensor, output;
  tensor.name = id("secret.tensor");
  output.name = id("secret.layer");
  profile.tensors = {tensor, output};
  profile.source_operators = {{id("secret@L9"), id("Conv")}};
  profile.notes = {{Severity::error, "/home/user/secret.json", 7, "secret is lost", 3}};
  profile.checks = {{"bytes", Check::Outcome::failed, "secret: 3 for 4"}};
  return profile;
}

TEST(ScrubNames, LeavesStandInsAndKeepsWhatIsOfTheVendor) {
  Profile profile = profile_with_names();
  NameScrubber scrubber;
  scrubber.scrub(profile);
  EXPECT_EQ(profile.provenance.files, (std::vector<std::string>{"file_1.json", "file_2.csv"}));
  EXPECT_EQ(profile.provenance.graph, "graph_1");
  EXPECT_EQ(profile.text(profile.units[0].name), "process_1");
  EXPECT_EQ(profile.text(profile.units[1].name), "HVX 0");
  EXPECT_EQ(profile.text(profile.ops[0].name), "op_1");
  EXPECT_EQ(profile.ops[0].node, profile.ops[0].name);
  EXPECT_EQ(profile.text(profile.ops[1].node), "op_1");
  EXPECT_EQ(profile.text(profile.ops[0].kind), "q::Conv");
  EXPECT_EQ(profile.text(profile.ops[0].attributes), "");
  EXPECT_EQ(profile.text(profile.tensors[0].name), "tensor_1");
  EXPECT_EQ(profile.text(profile.tensors[1].name), "op_1");
  EXPECT_EQ(profile.notes[0].file, "file_1.json");
  EXPECT_EQ(profile.notes[0].severity, Severity::error);
  EXPECT_EQ(profile.notes[0].count, 3u);
  EXPECT_EQ(profile.checks[0].outcome, Check::Outcome::failed);
  for (std::uint32_t text = 0; text < profile.strings.size(); ++text) {
    EXPECT_EQ(profile.text(StringId(text)).find("secret"), std::string_view::npos);
  }
}

TEST(ScrubNames, OfTwoProfilesAreTheSameForTheSameName) {
  Profile a = profile_with_names(), b = profile_with_names();
  std::swap(b.ops[0], b.ops[1]);
  NameScrubber scrubber;
  scrubber.scrub(a);
  scrubber.scrub(b);
  EXPECT_EQ(a.text(a.ops[0].name), b.text(b.ops[1].name));
  EXPECT_EQ(a.text(a.ops[1].name), b.text(b.ops[0].name));
}

TEST(ScrubNames, TextsOfArgumentsGoAndNumbersStay) {
  Profile profile;
  const auto id = [&](const char* text) { return profile.strings.intern(text); };
  Arguments& arguments = profile.spans.arguments;
  arguments.shapes = {{{id("path"), ArgumentType::text},
                       {id("bytes"), ArgumentType::integer},
                       {id("extra"), ArgumentType::json}}};
  arguments.add(0, 0,
                std::vector<std::uint64_t>{std::uint32_t(id("/home/user")), 4096,
                                           std::uint32_t(id("{\"user\": 1}"))});
  NameScrubber().scrub(profile);
  const auto value = [&](const char* name) {
    return arguments.find(0, *profile.strings.find(name));
  };
  EXPECT_EQ(profile.text(value("path")->text()), "");
  EXPECT_EQ(value("bytes")->bits, 4096u);
  EXPECT_EQ(profile.text(value("extra")->text()), "null");
}

// Fields that were added to an op later were not walked, so that they named other texts afterwards.
TEST(CompactStrings, KeepsWhatAnOpWasSplitFromAndItsIdentity) {
  Profile profile = profile_with_names();
  profile.strings.intern("named by nobody");
  const Profile before = profile;
  compact_strings(profile);
  EXPECT_LT(profile.strings.size(), before.strings.size());
  EXPECT_EQ(profile.text(profile.ops[0].split_from), "secret program");
  EXPECT_EQ(profile.text(profile.ops[0].identity), "secret identity");
  EXPECT_EQ(profile.text(profile.source_operators[0].name), "secret@L9");
}

}  // namespace
}  // namespace npuscope
