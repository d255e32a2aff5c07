#include "formats/tpu_mlir/profile.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <numeric>

#include "formats/tpu_mlir/profile_text.hpp"

namespace npuscope::tpu_mlir::profile_test {
namespace {

using testing::HasSubstr;

Result<CompilerProfile> read(const std::string& text) {
  auto source = open_byte_source(text, "compiler_profile_0.txt");
  return read_compiler_profile(**source);
}

Profile profile_of(const std::string& text, const std::string& locations = {}) {
  auto core = read(text);
  EXPECT_TRUE(core) << core.error().message;
  std::vector<TensorLocations> all;
  if (!locations.empty()) {
    auto source = open_byte_source(locations, "tensor_location.json");
    all.push_back(read_tensor_locations(**source).value());
  }
  std::vector<CoreProfile> cores;
  cores.push_back({0, std::move(*core)});
  return make_profile(cores, all, {});
}

// "Conv2D_10 CONV BD 12+400 op 0", of each span.
std::string text_of(const Profile& profile, std::size_t row) {
  const Op& op = profile.ops[index_of(profile.spans.op[row])];
  return fmt::format("{} {} {} {}+{}", profile.text(op.name), profile.text(op.kind),
                     profile.text(profile.units[index_of(profile.spans.unit[row])].name),
                     profile.spans.start[row], profile.spans.duration[row]);
}

std::string text_of(const TrueCommand& command) {
  return fmt::format(
      "{} {} {} {}+{}", command.layer.empty() ? "messages between cores" : command.layer,
      command.command, name_of(CommandEngine(command.engine)), command.start, command.cycles);
}

std::int64_t sum_of(const Profile& profile, NumberRole role) {
  std::int64_t sum = 0;
  for (const MeasureColumn& column : profile.spans.measures) {
    if (column.meaning.role != role) continue;
    for (const std::int64_t value : column.values) {
      if (value != MeasureColumn::missing) sum += value;
    }
  }
  return sum;
}

std::string failed_checks(const Profile& profile) {
  std::string failed;
  for (const Check& check : profile.checks) {
    if (check.outcome != Check::Outcome::passed) failed += check.name + " " + check.detail + "\n";
  }
  return failed;
}

class Generated : public testing::TestWithParam<unsigned> {};

TEST_P(Generated, EveryCommandAndEveryWait) {
  const GeneratedProfile made = generate(
      {.layers = 40, .engines = GetParam() % 2 == 0 ? 4 : 2, .ghz = 0.75, .seed = GetParam()});
  const Profile profile = profile_of(made.text);
  ASSERT_EQ(profile.spans.size(), made.commands.size());
  std::vector<std::string> flows, true_flows;
  for (std::size_t i = 0; i < made.commands.size(); ++i) {
    EXPECT_EQ(text_of(profile, i), text_of(made.commands[i]));
    for (const std::size_t wait : made.commands[i].waits) {
      true_flows.push_back(fmt::format("{} -> {}", wait, i));
    }
  }
  for (const Flow& flow : profile.flows) {
    flows.push_back(fmt::format("{} -> {}", index_of(flow.from), index_of(flow.to)));
  }
  std::ranges::sort(flows);
  std::ranges::sort(true_flows);
  EXPECT_EQ(flows, true_flows);
  std::int64_t read = 0, written = 0;
  for (const TrueCommand& command : made.commands) {
    if (command.direction == 0 || command.direction == 2) read += command.bytes;
    if (command.direction == 1 || command.direction == 2) written += command.bytes;
  }
  EXPECT_EQ(sum_of(profile, NumberRole::ddr_read), read);
  EXPECT_EQ(sum_of(profile, NumberRole::ddr_write), written);
  EXPECT_EQ(profile.clocks[0].rate.value, 7.5e8);
  EXPECT_EQ(profile.provenance.times, Origin::estimated);
  EXPECT_EQ(profile.checks.size(), 7u);
  EXPECT_EQ(failed_checks(profile), "");
}

INSTANTIATE_TEST_SUITE_P(Seeds, Generated, testing::Range(1u, 21u));

TEST(CompilerProfile, LayersAreNamedByTheirTensors) {
  const GeneratedProfile made = generate({.layers = 6});
  const Profile named = profile_of(made.text, made.locations);
  const Op& first = named.ops[0];
  EXPECT_EQ(named.text(first.node), "tensor0");
  EXPECT_EQ(first.identity, StringId::empty);
  const Profile plain = profile_of(made.text);
  EXPECT_EQ(plain.text(plain.ops[0].node), plain.text(plain.ops[0].name));
  EXPECT_THAT(std::string(plain.text(plain.ops[0].identity)), HasSubstr(" 1"));

  std::string other = made.locations;  // of another program
  for (std::size_t at = 0; (at = other.find("tpu.", at)) != other.npos; at += 4) {
    other.replace(at, 4, "tpu.Other");
  }
  const Profile unnamed = profile_of(made.text, other);
  EXPECT_EQ(unnamed.text(unnamed.ops[0].node), unnamed.text(unnamed.ops[0].name));
  EXPECT_THAT(unnamed.notes.back().message, HasSubstr("of another program"));
}

TEST(CompilerProfile, CoresAreOneProfileAndNotAddedUp) {
  const GeneratedProfile first = generate({.layers = 30, .seed = 2});
  const GeneratedProfile second = generate({.layers = 2, .total_cycles = first.total, .seed = 3});
  auto a = read(first.text), b = read(second.text);
  ASSERT_TRUE(a && b);
  EXPECT_TRUE(are_of_one_program(*a, *b));
  std::vector<CoreProfile> cores;
  cores.push_back({0, std::move(*a)});
  cores.push_back({1, std::move(*b)});
  const Profile profile = make_profile(cores, {}, {});
  EXPECT_EQ(profile.spans.size(), first.commands.size() + second.commands.size());
  EXPECT_EQ(failed_checks(profile), "");
  for (const Measure& measure : profile.measures) {
    if (measure.meaning.role != NumberRole::graph_wall) continue;
    EXPECT_EQ(measure.value, double(first.total));
  }
  auto later = read(generate({.layers = 3, .seed = 9}).text);
  EXPECT_FALSE(are_of_one_program(cores[0].profile, *later));
}

TEST(CompilerProfile, WhatIsCutOffIsSaid) {
  const GeneratedProfile made = generate({.layers = 10});
  const std::string cut = made.text.substr(0, made.text.size() / 2);
  const Profile profile = profile_of(cut);
  EXPECT_LT(profile.spans.size(), made.commands.size());
  EXPECT_EQ(profile.clocks[0].rate.value, 0);  // unknown
  EXPECT_TRUE(std::ranges::any_of(profile.notes, [](const Note& note) {
    return note.severity == Severity::error && note.message.find("breaks off") != std::string::npos;
  }));
}

TEST(CompilerProfile, HostileNumbersAreLeftOutAndCounted) {
  const std::string text =
      "s: start time, b: bd_id, g: gdma_id\nENGINE_BD   ENGINE_GDMA\n"
      "a_1|AR|s:9223372036854775807|b:1|g:0|e:0|t:9223372036854775807\n"
      "a_1|AR|s:-1|b:2|g:0|e:0|t:1\n"
      "a_1|AR|s:5|b:3|g:99|e:5|t:1\n"
      "a_1|AR\n"
      "a_1|AR|s:6|b:4|g:0|e:9|t:1\n"
      "            x_2|GDMA_TENSOR|s:0|b:0|g:1|e:0|t:1|dr:9|sz:-4\n"
      "API_END total_cycle:99999999999999999999\nflops: 1, runtime: infms\n";
  const Profile profile = profile_of(text);
  EXPECT_EQ(profile.spans.size(), 3u);
  std::uint64_t left_out = 0;
  for (const Note& note : profile.notes) {
    if (note.message.find("left out") != std::string::npos) left_out += note.count;
  }
  EXPECT_EQ(left_out, 3u);
  EXPECT_EQ(read("s: start time, b: bd_id, g: gdma_id\nENGINE_BD\n").has_value(), false);
}

// Sums of real files, counted by hand: commands, cycles of BD and GDMA, bytes in and out.
struct Sample {
  const char* folder;
  const char* file;
  std::size_t spans;
  std::int64_t bd, gdma, in, out;
  double gigahertz;
};

TEST(CompilerProfile, SumsOfSamples) {
  const std::filesystem::path all = std::string(NPUSCOPE_SHARED_DIR) + "/data/tpu-mlir";
  if (!std::filesystem::exists(all)) GTEST_SKIP() << "no shared data";
  constexpr std::array samples{
      Sample{"convnet-bm1684x-F16", "0", 104, 3792, 4966, 81980, 144, 1.0},
      Sample{"convnet-bm1688-F16", "0", 71, 9535, 11246, 79440, 144, 0.9},
      Sample{"mbnet-bm1688-BF16", "0", 172, 52131, 60351, 275796, 656, 0.9},
      Sample{"mbnet-bm1688-BF16", "1", 11, 1, 700, 100, 200, 0.9},
  };
  for (const Sample& sample : samples) {
    const auto path = all / sample.folder / fmt::format("compiler_profile_{}.txt", sample.file);
    auto source = open_byte_source(path);
    auto core = read_compiler_profile(**source);
    ASSERT_TRUE(core) << core.error().message;
    std::vector<CoreProfile> cores;
    cores.push_back({0, std::move(*core)});
    const Profile profile = make_profile(cores, {}, {});
    EXPECT_EQ(profile.spans.size(), sample.spans) << path;
    std::map<std::string_view, std::int64_t> work;
    for (std::size_t i = 0; i < profile.spans.size(); ++i) {
      work[profile.text(profile.units[index_of(profile.spans.unit[i])].name)] +=
          profile.spans.duration[i];
    }
    EXPECT_EQ(work["BD"], sample.bd) << path;
    EXPECT_EQ(work["GDMA"], sample.gdma) << path;
    EXPECT_EQ(sum_of(profile, NumberRole::ddr_read), sample.in) << path;
    EXPECT_EQ(sum_of(profile, NumberRole::ddr_write), sample.out) << path;
    EXPECT_EQ(profile.clocks[0].rate.value, sample.gigahertz * 1e9) << path;
  }
}

}  // namespace
}  // namespace npuscope::tpu_mlir::profile_test
