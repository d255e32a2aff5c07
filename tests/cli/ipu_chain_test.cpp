// The chain of SigmaStar's document on the reference NPU, as a user types it: compile, run with a
// log, timeline, cost of operators, and every general command.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::ipu_chain_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class IpuChain : public TraceFolder {
 protected:
  void SetUp() override {
    TraceFolder::SetUp();
    image_ = path("squeezenet_fixed.sim_sgsimg.img");
    model_ = path("squeezenet_fixed.sim");
    timeline_ = path("log_ctrl0.json");
  }

  Outcome compile(std::vector<std::string> more = {}) const {
    std::vector<std::string> flags{
        "compile",  "-m",         NPUSCOPE_SOURCE_DIR "/models/light_squeezenet.onnx",
        "--target", "ipu-muffin", "-o",
        image_};
    flags.insert(flags.end(), more.begin(), more.end());
    return run_npuscope(flags);
  }
  Outcome run_logged(std::vector<std::string> more = {}) const {
    fs::create_directories(path("logs"));
    std::vector<std::string> flags{"run", "-m", image_, "--ipu_log", path("logs")};
    flags.insert(flags.end(), more.begin(), more.end());
    return run_npuscope(flags);
  }
  std::string log(const std::string& name) const {
    return path("logs/squeezenet_fixed.sim_sgsimg.img_log_" + name + ".bin");
  }
  Outcome timeline() const {
    return run_npuscope({"ipu", "timeline", "-c0", log("core0"), "-c1", log("core1"), "-cc",
                         log("corectrl0"), "-f", "900", "-v", "ipu-muffin", "-o", timeline_});
  }

  std::string image_, model_, timeline_;
};

TEST_F(IpuChain, FromTheModelToWhatEachOperatorCosts) {
  const Outcome compiled = compile();
  ASSERT_EQ(compiled.status, 0) << compiled.errors;
  EXPECT_THAT(compiled.output, HasSubstr("multiply-accumulates   349,151,936\n"));

  const Outcome plain = run_npuscope({"run", image_});
  ASSERT_EQ(plain.status, 0) << plain.errors;
  EXPECT_EQ(plain.errors, "");
  EXPECT_THAT(plain.output, HasSubstr("work_mode: dual core\nBatch mode: n_buf\n"));
  EXPECT_THAT(plain.output, Not(HasSubstr("logging")));

  const Outcome logged = run_logged();
  ASSERT_EQ(logged.status, 0) << logged.errors;
  EXPECT_THAT(logged.errors, HasSubstr("not to be trusted"));
  EXPECT_EQ(fs::file_size(log("corectrl0")), 32u);

  const Outcome read = timeline();
  ASSERT_EQ(read.status, 0) << read.errors;
  EXPECT_EQ(read.errors, "");

  const Outcome cost =
      run_npuscope({"ipu", "op-cost", "-m", model_, "--ipu_log_file", timeline_, "--mode", "each"});
  ASSERT_EQ(cost.status, 0) << cost.errors;
  EXPECT_THAT(cost.output, HasSubstr("0 CONV_2D "));
  EXPECT_THAT(cost.output, HasSubstr(" Fix2Float "));
  EXPECT_TRUE(fs::exists(path("new_log_ctrl0.json")));
}

// Names of shares beyond all of what they are of.
void find_impossible_shares(const json& value, const std::string& name,
                            std::vector<std::string>& found) {
  if (value.is_structured()) {
    for (const auto& [key, inner] : value.items()) {
      find_impossible_shares(inner, value.is_array() ? name : key, found);
    }
  } else if (value.is_number()) {
    const double all = name.find("percent") == name.npos ? 1 : 100;
    if (all == 1 && name.find("share") == name.npos) return;
    if (value.get<double>() > all * (1 + 1e-9)) found.push_back(name + " " + value.dump());
  }
}

TEST_F(IpuChain, NoShareIsBeyondTheWhole) {
  const Outcome compiled =
      run_npuscope({"compile", "-m", NPUSCOPE_SOURCE_DIR "/models/light_resnet50.onnx", "--target",
                    "ipu-muffin", "-o", image_});
  ASSERT_EQ(compiled.status, 0) << compiled.errors;
  ASSERT_EQ(run_logged({"-n", "3"}).status, 0);
  ASSERT_EQ(timeline().status, 0);
  std::vector<std::string> found;
  for (const char* command : {"show", "ops", "units", "memory", "path", "diagnose", "timeline"}) {
    const Outcome page = run_npuscope({command, timeline_, model_, "--json"});
    ASSERT_EQ(page.status, 0) << command << page.errors;
    find_impossible_shares(json::parse(page.output), "", found);
  }
  EXPECT_THAT(found, testing::IsEmpty());
}

TEST_F(IpuChain, EveryCommandTakesItsTimeline) {
  ASSERT_EQ(compile().status, 0);
  ASSERT_EQ(run_logged().status, 0);
  ASSERT_EQ(timeline().status, 0);
  const auto page = [&](std::vector<std::string> words) {
    words.insert(words.end(), {timeline_, model_, "--json"});
    const Outcome outcome = run_npuscope(words);
    EXPECT_EQ(outcome.status, 0) << words[0] << ": " << outcome.errors;
    return outcome.status == 0 ? json::parse(outcome.output).at("profiles").at(0) : json();
  };
  const Outcome advice = run_npuscope({"diagnose", timeline_, model_});
  EXPECT_THAT(advice.output, HasSubstr("npuscope ipu operators"));
  EXPECT_THAT(advice.output, Not(HasSubstr("VTCM")));
  const json shown = page({"show"}), units = page({"units"});
  const std::int64_t wall = shown.at("wall").at("ticks");
  EXPECT_EQ(shown.at("clock").at("hertz"), 900e6);
  EXPECT_THAT(run_npuscope({"show", timeline_, model_, "--full"}).output,
              HasSubstr("overlap and need not"));
  EXPECT_THAT(run_npuscope({"show", timeline_, image_}).output, HasSubstr("CONCATENATION"));
  fs::create_directories(path("both"));
  for (const std::string& file : {timeline_, model_, image_}) {
    fs::copy(file, path("both") + "/" + fs::path(file).filename().string());
  }
  const json both = json::parse(run_npuscope({"show", path("both"), "--json"}).output);
  EXPECT_EQ(both.at("profiles").at(0).at("files").size(), 2u);
  const Outcome alone = run_npuscope({"show", image_});
  EXPECT_EQ(alone.status, 3);
  EXPECT_THAT(alone.errors, HasSubstr("name its IPU timeline"));
  for (const json& unit : units.at("units").at("rows")) {
    EXPECT_LE(unit.at("busy").get<std::int64_t>(), wall) << unit.dump();
  }
  EXPECT_FALSE(page({"ops"}).empty());
  // What an engine waited for is known: nearly nothing of the path is waiting, and that is what
  // writing the log costs.
  const json path = page({"path"});
  EXPECT_GT(path.at("path").at("work_share_of_wall").get<double>(), 0.98) << path.dump();
  // The log says what each transfer moved.
  const json memory = page({"memory"});
  const json run = json::parse(run_npuscope({"run", image_, "--json"}).output);
  EXPECT_EQ(memory.at("traffic").at("rows").at(0).at("bytes"), run.at("run").at("load_bytes"))
      << memory.dump();
  EXPECT_EQ(memory.at("traffic").at("rows").at(1).at("bytes"), run.at("run").at("store_bytes"));
  const Outcome diff =
      run_npuscope({"diff", timeline_, timeline_, "--fail-if", "wall>0%", "--inconclusive=pass"});
  EXPECT_EQ(diff.status, 0) << diff.errors;
}

TEST_F(IpuChain, ALogThatIsTooSmallIsSaidTwice) {
  ASSERT_EQ(compile().status, 0);
  const Outcome outcome = run_logged({"--ipu_log_size", "4096"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.errors, HasSubstr("buffer of 4096 bytes is full"));
  const Outcome read = run_npuscope({"ipu", "timeline", "-c0", log("core0"), "-v", "ipu-muffin",
                                     "--ipu_log_size", "4096", "-o", timeline_});
  EXPECT_EQ(read.status, 0) << read.errors;
  EXPECT_THAT(read.errors, HasSubstr("the buffer was too small"));
}

// Its conclusion was that CONV_2D takes 61.0 %, and 33 of 40 operators nothing.
TEST_F(IpuChain, AnOverflowedLogSaysHowMuchItCovers) {
  ASSERT_EQ(compile().status, 0);
  ASSERT_EQ(run_logged({"--ipu_log_size", "4096"}).status, 0);
  const Outcome read = run_npuscope({"ipu", "timeline", "-c0", log("core0"), "-c1", log("core1"),
                                     "-cc", log("corectrl0"), "-v", "ipu-muffin", "--ipu_log_size",
                                     "4096", "-o", timeline_});
  ASSERT_EQ(read.status, 0) << read.errors;
  const Outcome cost =
      run_npuscope({"ipu", "op-cost", "-m", model_, "--ipu_log_file", timeline_, "--mode", "each"});
  EXPECT_EQ(cost.status, 0) << cost.errors;
  EXPECT_THAT(cost.output, testing::MatchesRegex(
                               "partial: the log covers [0-9]+ of the 40 operators that take a "
                               "layer and [0-9.]+ % of the wall; shares are of what was seen\n"
                               "0 CONV_2D .*Fix2Float not seen\n"));
  for (const char* command : {"show", "ops", "path", "diagnose"}) {
    EXPECT_THAT(run_npuscope({command, timeline_, model_}).output,
                HasSubstr("damaged: the IPU log covers"))
        << command;
  }
}

TEST_F(IpuChain, LogsOfTwoModelsWereTakenAsTwoCores) {
  ASSERT_EQ(compile().status, 0);
  ASSERT_EQ(run_logged().status, 0);
  const std::string other = path("resnet_fixed.sim_sgsimg.img");
  ASSERT_EQ(run_npuscope({"compile", "-m", NPUSCOPE_SOURCE_DIR "/models/light_resnet50.onnx",
                          "--target", "ipu-muffin", "-o", other})
                .status,
            0);
  ASSERT_EQ(run_npuscope({"run", "-m", other, "--ipu_log", path("logs")}).status, 0);
  const std::string foreign = path("logs/resnet_fixed.sim_sgsimg.img_log_");
  const Outcome cores = run_npuscope({"ipu", "timeline", "-c0", log("core0"), "-c1",
                                      foreign + "core1.bin", "-v", "ipu-muffin", "-o", timeline_});
  EXPECT_EQ(cores.status, 3);
  EXPECT_THAT(cores.errors, HasSubstr("name logs of one run of one model"));
  EXPECT_FALSE(fs::exists(timeline_));
  ASSERT_EQ(timeline().status, 0);
  const Outcome cost =
      run_npuscope({"ipu", "op-cost", "-m", path("resnet_fixed.sim"), "--ipu_log_file", timeline_});
  EXPECT_EQ(cost.status, 3);
  EXPECT_EQ(cost.output, "");
  EXPECT_THAT(cost.errors, HasSubstr("give the model that was running"));
  const Outcome shown = run_npuscope({"show", timeline_, path("resnet_fixed.sim")});
  EXPECT_EQ(shown.status, 3);
}

TEST_F(IpuChain, InfoSaysTheBatches) {
  ASSERT_EQ(compile({"--batch", "4", "--batch_mode", "one_buf"}).status, 0);
  const Outcome info = run_npuscope({"ipu", "info", "-m", image_});
  EXPECT_EQ(info.status, 0) << info.errors;
  EXPECT_THAT(info.output, HasSubstr("Offline Model Max Batch Number     4\n"));
  EXPECT_THAT(info.output, HasSubstr("Offline Model Supported Batch      4\n"));
  EXPECT_THAT(info.output, HasSubstr("training_input_formats        RGB\n"));
  EXPECT_THAT(info.output, HasSubstr("batch_mode                    one_buf\n"));
}

TEST_F(IpuChain, Errors) {
  EXPECT_EQ(compile({"--batch", "0"}).status, 2);
  EXPECT_EQ(compile({"-stats-level=70"}).status, 2);
  EXPECT_EQ(run_npuscope({"compile", "-m", path("none.onnx"), "--target", "ipu-muffin"}).status, 3);
  ASSERT_EQ(compile().status, 0);
  EXPECT_EQ(run_npuscope({"run", image_, "--ipu_log", path("none")}).status, 4);
  EXPECT_EQ(run_npuscope({"run", image_, "--ipu_log_size", "0"}).status, 2);
  EXPECT_EQ(run_npuscope({"run", image_, "-n", "0"}).status, 2);
  EXPECT_EQ(run_npuscope({"run", image_, "--aic-profiling-type=stats"}).status, 2);
  write("cut.img", read("squeezenet_fixed.sim_sgsimg.img").substr(0, 9000));
  const Outcome cut = run_npuscope({"run", path("cut.img")});
  EXPECT_EQ(cut.status, 3);
  EXPECT_THAT(cut.errors, HasSubstr("it is cut, copy it again"));
}

}  // namespace
}  // namespace npuscope::cli::ipu_chain_test
