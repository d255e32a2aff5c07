#include "npu/targets/nsp/target/target.hpp"

#include <gtest/gtest.h>

#include <regex>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "npu/core/target_file.hpp"
#include "profile/pmu_events.hpp"

namespace npuscope::npu::nsp::target_test {
namespace {

std::string with_change(std::string_view line, std::string_view replacement) {
  std::string text = builtin_target("aic100")->toml;
  const std::size_t at = text.find(line);
  EXPECT_NE(at, std::string::npos) << line;
  return text.replace(at, line.size(), replacement);
}

std::string message_of(const std::string& toml) {
  const auto target = parse_target(toml, "t.toml");
  EXPECT_FALSE(target);
  return target ? "" : target.error().message;
}

TEST(Aic100, IsWhatTheProductBriefSays) {
  const Target target = *builtin_target("aic100");
  EXPECT_EQ(target.cores, 16u);
  EXPECT_EQ(target.hvx_threads, 4u);
  EXPECT_EQ(target.vtcm_bytes, 8u << 20);
  EXPECT_EQ(target.hmx_macs_per_cycle_int8, 8192);
  EXPECT_EQ(target.hmx_macs_per_cycle_fp16, 4096);
  EXPECT_EQ(target.ddr_bytes_per_s, 137e9);
  EXPECT_EQ(target.timer_hz, 19.2e6);
}

TEST(Aic100, HasEveryRecipeOfTheCompilersFlag) {
  const Target target = *builtin_target("aic100");
  for (const char* recipe : {"AxiRd", "AxiWr", "AxiRdWr", "KernelUtil", "HmxMacs"}) {
    EXPECT_TRUE(target.pmu_recipes.contains(recipe)) << recipe;
  }
}

TEST(Aic100, HasTheRecipesAndEventsThatReportsName) {
  const Target target = *builtin_target("aic100");
  EXPECT_EQ(target.pmu_events.size(), pmu_events().size());
  EXPECT_EQ(target.pmu_recipes.size(), pmu_recipes().size());
}

// A description could call 0x70 what it liked, and reports would have told its count otherwise.
TEST(ParseTarget, RefusesPmuEventsOtherThanReportsCallThem) {
  const std::string toml = builtin_target("aic100")->toml;
  const auto refusal = [&](const std::string& text, const std::string& other) {
    std::string changed = toml;
    changed.replace(changed.find(text), text.size(), other);
    const auto target = parse_target(changed, "own.toml");
    if (target) return std::string("accepted");
    return std::regex_replace(target.error().message, std::regex("toml:[0-9]+"), "toml");
  };
  EXPECT_EQ(refusal("name = \"HMX_ACTIVE_CYCLES\"", "name = \"HMX\""),
            "own.toml: pmu.events[1] must be HMX_ACTIVE_CYCLES, counts hmx_cycles, divisor 1: what "
            "reports call code 0x70");
  EXPECT_EQ(refusal("AxiRdWr = [0x200, 0x201]", "AxiRdWr = [0x200]"),
            "own.toml: pmu.recipes.AxiRdWr must be [0x200, 0x201], the events of this recipe in "
            "reports");
  EXPECT_EQ(refusal("code = 0x90\nname = \"TASKS\"", "code = 0x91\nname = \"WORK\""), "accepted");
}

TEST(HtpV75, HasSessionsWhoseClockIsSlowWhenCold) {
  const auto target = builtin_target("htp-v75");
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_EQ(target->cores, 1u);
  EXPECT_EQ(target->hvx_threads, 4u);
  EXPECT_EQ(target->vtcm_bytes, 8u << 20);
  EXPECT_EQ(target->timer_hz, 19.2e6);
  EXPECT_TRUE(target->shared_main_thread);
  ASSERT_TRUE(target->session);
  EXPECT_LT(target->session->cold.graph_hz, target->session->warm.graph_hz);
  EXPECT_GT(target->session->cold.power_on_s, target->session->warm.power_on_s);
  EXPECT_FALSE(builtin_target("aic100")->session);
}

// Descriptions from before there were figures for it are read as well.
TEST(HtpV73, SaysHowLongLoadingAGraphTakesOrNot) {
  const Target target = *builtin_target("htp-v73");
  EXPECT_EQ(target.session->load->rpc_s, 11.969e-3);
  EXPECT_EQ(target.session->release->accelerator_s, 0.775e-3);
  std::string toml = target.toml;
  toml.erase(toml.find("[session.load]"), toml.find("[hmx]") - toml.find("[session.load]"));
  const auto older = parse_target(toml, "htp.toml");
  ASSERT_TRUE(older) << older.error().message;
  EXPECT_FALSE(older->session->load);
  EXPECT_FALSE(older->session->release);
}

TEST(HtpV73, RefusesAnInnerLayerThatTakesLongerThanTheOuter) {
  std::string toml = builtin_target("htp-v73")->toml;
  const std::string inner = "rpc_s = 11.969e-3";
  toml.replace(toml.find(inner), inner.size(), "rpc_s = 25e-3");
  const auto target = parse_target(toml, "htp.toml");
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().message.substr(target.error().message.find(": ") + 2),
            "session.load.rpc_s must be between 0 and 0.024883");
}

// Two multiply-adds of integers in the time of one of float16.
TEST(Aic100, SaysWhatPowerProductsOfIntegersTake) {
  const Target target = *builtin_target("aic100");
  const double rate = target.hmx_macs_per_cycle_int8 / target.hmx_macs_per_cycle_fp16;
  EXPECT_NEAR(target.hmx_int8_power_of_fp16, rate * (0.2 + 0.03) / (1.1 + 0.4), 0.0005);
  const auto older = parse_target(with_change("int8_power_of_fp16 = 0.307", ""), "t.toml");
  ASSERT_TRUE(older) << older.error().message;
  EXPECT_EQ(older->hmx_int8_power_of_fp16, 1);
  EXPECT_NE(message_of(with_change("int8_power_of_fp16 = 0.307", "int8_power_of_fp16 = 1.5"))
                .find("hmx.int8_power_of_fp16 must be between 0 and 1"),
            std::string::npos);
}

// With sessions the clock follows their phases; a governor would contradict them.
TEST(HtpV73, RefusesAGovernorBesideItsSessions) {
  std::string toml = builtin_target("htp-v73")->toml;
  const std::string lowest = "core_hz_min = 1.4976e9";
  toml.replace(toml.find(lowest), lowest.size(), "core_hz_min = 1.00e9");
  const auto target = parse_target(toml, "htp.toml");
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().message.substr(target.error().message.find(": ") + 2),
            "clock.core_hz_min must be the same as core_hz: with [session] the clock follows its "
            "phases");
}

TEST(HtpV73, DescribesTilesAndGraphs) {
  for (const char* name : {"htp-v73", "htp-v75", "htp-v79"}) {
    SCOPED_TRACE(name);
    const auto target = builtin_target(name);
    ASSERT_TRUE(target) << target.error().message;
    EXPECT_TRUE(target->qnn_graphs);
    EXPECT_EQ(target->vector_tile_bytes, 32u << 10);
    EXPECT_EQ(target->hmx_tile_columns, 256u);
    EXPECT_TRUE(target->kernels.at("elementadd").on_hmx);
    EXPECT_TRUE(target->kernels.at("aicmaxpoolwided32").by_window);
    EXPECT_TRUE(target->kernels.at("aicavgpoold32").by_input);
    EXPECT_GT(target->kernels.at("aicsoftmax").cycles_per_row, 0);
  }
  EXPECT_FALSE(builtin_target("aic100")->qnn_graphs);
  EXPECT_EQ(builtin_target("aic100")->vector_tile_bytes, 0u);
}

TEST(HtpV73, RefusesAKernelWithoutCost) {
  std::string toml = builtin_target("htp-v73")->toml;
  const std::string cost = "elementadd                      = { cycles_per_padded_kib = 18, ";
  ASSERT_NE(toml.find(cost), toml.npos);
  toml.replace(toml.find(cost), cost.size(), "elementadd = { ");
  const auto target = parse_target(toml, "htp.toml");
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().message,
            "htp.toml: kernels.elementadd.cycles_per_kib is missing; it must be a number");
}

TEST(BuiltinTarget, UnknownNameListsTheKnownOnes) {
  const auto target = builtin_target("aic200");
  ASSERT_FALSE(target);
  EXPECT_TRUE(target.error().message.starts_with(
      "target 'aic200' is not built in (did you mean 'aic100'?); use one of: aic100, htp-v73, "))
      << target.error().message;
  EXPECT_TRUE(target.error().message.ends_with(", or the path of a .toml file"));
}

std::string with_architecture(std::string_view architecture) {
  return fmt::format("architecture = \"{}\"\n{}", architecture, builtin_target("aic100")->toml);
}

TEST(ParseTarget, RefusesAnotherArchitecture) {
  EXPECT_TRUE(parse_target(with_architecture("nsp"), "t.toml"));
  EXPECT_EQ(message_of(with_architecture("ipu")),
            "t.toml: it describes a SigmaStar IPU; this needs a target with HMX and HVX cores, "
            "such as aic100 or htp-v75");
  EXPECT_EQ(message_of(with_architecture("tpu")),
            "t.toml:1: architecture must be one of nsp, torq, ipu");
}

TEST(FindTargetFile, KnowsTheArchitectureOfEveryBuiltInTarget) {
  const auto file = find_target_file("htp-v75");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->architecture, TargetArchitecture::nsp);
  EXPECT_EQ(file->name, "targets/htp-v75.toml");
  EXPECT_EQ(builtin_target_names(TargetArchitecture::nsp), "aic100, htp-v73, htp-v75, htp-v79");
  EXPECT_EQ(builtin_target_names(TargetArchitecture::torq), "torq-sl2610, torq-sr200");
  EXPECT_EQ(builtin_target_names(TargetArchitecture::ipu), "ipu-muffin");
}

// All files were parsed for the names in a line of help.
TEST(NamesOfTargets, OfAnArchitectureAreThoseWhoseFilesParsedSaySo) {
  std::istringstream names(builtin_target_names());
  for (std::string name; std::getline(names >> std::ws, name, ',');) {
    const auto file = find_target_file(name);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_NE(builtin_target_names(file->architecture).find(name), std::string::npos) << name;
  }
}

TEST(FindTargetFile, ReadsAFile) {
  const std::string path = testing::TempDir() + "npuscope-find-target.toml";
  std::ofstream(path) << "architecture = \"ipu\"\n";
  const auto file = find_target_file(path);
  const auto target = find_target(path);
  std::remove(path.c_str());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->architecture, TargetArchitecture::ipu);
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().kind, ErrorKind::usage);
  EXPECT_EQ(
      target.error().message,
      "target '" + path +
          "' is a SigmaStar IPU; this needs one with HMX and HVX cores: aic100, htp-v73, htp-v75, "
          "htp-v79, or the path of such a .toml file");
}

// Files of one folder, gone with it.
struct Folder {
  std::string path = testing::TempDir() + "npuscope-based-on/";
  Folder() { std::filesystem::create_directory(path); }
  ~Folder() { std::filesystem::remove_all(path); }

  void write(const std::string& name, const std::string& toml) const {
    std::ofstream(path + name) << toml;
  }
  // Without the folder.
  std::string refusal(const std::string& name) const {
    const auto target = find_target(path + name);
    if (target) return "accepted";
    std::string message = target.error().message;
    for (std::size_t at; (at = message.find(path)) != message.npos;) message.erase(at, path.size());
    return message;
  }
};

TEST(BuiltInTargets, HaveNoFieldThatNobodyReads) {
  for (const char* name : {"aic100", "htp-v73", "htp-v75", "htp-v79"}) {
    const auto target = find_target(fmt::format("{}/targets/{}.toml", NPUSCOPE_SOURCE_DIR, name));
    EXPECT_TRUE(target) << target.error().message;
  }
}

TEST(BasedOn, TakesOverWhatTheFileDoesNotSay) {
  const Target v75 = *builtin_target("htp-v75"), v79 = *builtin_target("htp-v79");
  EXPECT_EQ(v79.name, "htp-v79");
  EXPECT_EQ(v79.hvx_threads, 6u);
  EXPECT_EQ(v79.ddr_bytes_per_s, 84.8e9);
  EXPECT_EQ(v79.core_hz, v75.core_hz);
  EXPECT_EQ(v79.kernels.size(), builtin_target("htp-v73")->kernels.size());
  // Of an entry that a file has in part, the rest.
  const KernelCost& changed = v75.kernels.at("aicconverttod32_int8_matrix");
  EXPECT_EQ(changed.cycles_per_kib, 45);
  EXPECT_EQ(changed.cycles_per_padded_kib, 30);
}

// What programs keep needs no other file.
TEST(BasedOn, IsNotInTheTextThatATargetKeeps) {
  const Target target = *builtin_target("htp-v79");
  EXPECT_EQ(target.toml.find("based_on"), target.toml.npos);
  const auto again = parse_target(target.toml, "again.toml");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->toml, target.toml);
  EXPECT_EQ(again->kernels.size(), target.kernels.size());
  EXPECT_EQ(again->ddr_bytes_per_s, target.ddr_bytes_per_s);
}

TEST(BasedOn, ReachesFilesOfTheSameFolder) {
  const Folder folder;
  folder.write("base.toml",
               "based_on = \"htp-v79\"\nname = \"base\"\ndescription = \"b\"\n"
               "cores.hvx_threads = 5\n");
  folder.write("own.toml",
               "based_on = \"base.toml\"\nname = \"own\"\ndescription = \"o\"\n"
               "pmu.events = []\n");
  const auto target = find_target(folder.path + "own.toml");
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_EQ(target->name, "own");
  EXPECT_EQ(target->hvx_threads, 5u);
  EXPECT_EQ(target->ddr_bytes_per_s, 84.8e9);
  EXPECT_TRUE(target->pmu_events.empty());
}

TEST(BasedOn, NamesTheFileAndLineThatIsWrong) {
  const Folder folder;
  const std::string own = "name = \"own\"\ndescription = \"o\"\n";
  folder.write("base.toml", "based_on = \"htp-v73\"\n\ncores.count = 0\n");
  folder.write("own.toml", "based_on = \"base.toml\"\n" + own);
  folder.write("ring.toml", "based_on = \"ring_2.toml\"\n" + own);
  folder.write("ring_2.toml", "based_on = \"ring.toml\"\n");
  for (int i = 0; i < 9; ++i) {
    folder.write(fmt::format("{}.toml", i), fmt::format("based_on = \"{}.toml\"\n", i + 1));
  }
  folder.write("unnamed.toml", "based_on = \"htp-v73\"\n");
  folder.write("unknown.toml", "based_on = \"htp-v72\"\n");
  folder.write("elsewhere.toml", "based_on = \"../own.toml\"\n");
  folder.write("number.toml", "based_on = 73\n");
  folder.write("none.toml", "based_on = \"absent.toml\"\n");
  folder.write("no_table.toml", "based_on = \"htp-v73\"\ncores = 1\n" + own);
  folder.write("misspelt.toml", "based_on = \"htp-v73\"\n" + own + "[dma]\nissue_cylces = 3\n");
  EXPECT_EQ(folder.refusal("own.toml"), "base.toml:3: cores.count must be between 1 and 64");
  EXPECT_EQ(folder.refusal("ring.toml"),
            "ring_2.toml:1: based_on leads back to ring.toml; at most 8 files may be based on one "
            "another");
  EXPECT_EQ(folder.refusal("0.toml"),
            "8.toml:1: based_on leads too far; at most 8 files may be based on one another");
  EXPECT_EQ(folder.refusal("unnamed.toml"), "unnamed.toml: name is missing; it must be a text");
  const std::string allowed =
      ":1: based_on must be a built-in target (aic100, htp-v73, htp-v75, htp-v79, ipu-muffin, "
      "torq-sl2610, torq-sr200) or a .toml file in the same folder";
  EXPECT_EQ(folder.refusal("unknown.toml"), "unknown.toml" + allowed);
  EXPECT_EQ(folder.refusal("elsewhere.toml"), "elsewhere.toml" + allowed);
  EXPECT_EQ(folder.refusal("number.toml"), "number.toml" + allowed);
  EXPECT_EQ(folder.refusal("none.toml"),
            "absent.toml: cannot open: No such file or directory; check the path");
  EXPECT_EQ(folder.refusal("no_table.toml"),
            "no_table.toml: cores.count is missing; it must be a number");
  EXPECT_EQ(
      folder.refusal("misspelt.toml"),
      "misspelt.toml:5: dma.issue_cylces is unknown (did you mean 'dma.issue_cycles'?); remove "
      "it, or see targets/ for the fields there are");
}

TEST(ParseTarget, NamesTheFieldThatIsMissing) {
  EXPECT_EQ(message_of(with_change("hvx_threads = 4 ", "other = 4 ")),
            "t.toml: cores.hvx_threads is missing; it must be a number");
}

TEST(ParseTarget, NamesTheLineOfASenselessValue) {
  const std::string message = message_of(with_change("count = 16 ", "count = 0 "));
  EXPECT_TRUE(message.starts_with("t.toml:1")) << message;
  EXPECT_NE(message.find("cores.count must be between 1 and 64"), std::string::npos) << message;
  EXPECT_NE(message_of(with_change("efficiency = 0.82", "efficiency = nan")), "");
  EXPECT_NE(message_of(with_change("hvx_threads = 4 ", "hvx_threads = 4.5 ")), "");
  EXPECT_NE(message_of(with_change("counts = \"cycles\"", "counts = \"luck\"")), "");
}

// Every figure of the description, one at a time: missing, negative, infinite, no number, absurdly
// large. What is optional may be missing, nothing else may pass.
TEST(ParseTarget, RefusesEveryFigureThatMakesNoSense) {
  const std::string text = builtin_target("aic100")->toml;
  const std::set<std::string> may_be_missing{"capacity_bytes", "divisor",      "enqueue_s",
                                             "moves_tiles",    "sorts_places", "preprocess_s",
                                             "hoisted_share",  "wake_s",       "postprocess_s"};
  std::size_t figures = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const std::size_t equals = line.find(" = ");
    const bool is_figure = !line.starts_with("#") && equals != line.npos &&
                           line.find_first_of("\"[{", equals) > line.find('#', equals);
    const std::string name = line.substr(0, std::min(line.find(' '), line.size()));
    for (const char* value :
         {"", "-1", "-0.001", "inf", "nan", "1e300", "\"much\"", "[1]", "true"}) {
      if (!is_figure || (*value == 0 && may_be_missing.contains(name))) continue;
      if (line.find("= true") != line.npos && std::string_view(value) == "true") continue;
      const std::string now = *value == 0 ? "" : name + " = " + value;
      std::string changed = text;
      changed.replace(begin, end - begin, now);
      const auto target = parse_target(changed, "t.toml");
      EXPECT_FALSE(target) << "'" << now << "' for '" << line << "'";
      if (!target) {
        EXPECT_TRUE(target.error().message.starts_with("t.toml:")) << target.error().message;
      }
    }
    figures += is_figure;
    begin = end + 1;
  }
  EXPECT_GT(figures, 40u);
}

// The buffers of such a device could be written, but no decoder takes them.
TEST(ParseTarget, RefusesATimerThatTheDecoderWouldNotBelieve) {
  EXPECT_NE(message_of(with_change("timer_hz = 19.2e6 ", "timer_hz = 1e3 ")), "");
}

TEST(ParseTarget, SaysWhereTheTomlIsBroken) {
  const std::string message = message_of("name = \"x\"\n[cores\n");
  EXPECT_TRUE(message.starts_with("t.toml:2: ")) << message;
}

}  // namespace
}  // namespace npuscope::npu::nsp::target_test
