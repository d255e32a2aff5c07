// npuscope ipu as a user runs it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"
#include "formats/sigmastar/image.hpp"
#include "formats/sigmastar/log.hpp"
#include "formats/sigmastar/model.hpp"
#include "formats/sigmastar/samples.hpp"

namespace npuscope::cli::ipu_test {
namespace {

using sigmastar::test_support::layer_event;
using sigmastar::test_support::make_model;
using testing::HasSubstr;
using testing::StartsWith;

class Ipu : public TraceFolder {
 protected:
  void SetUp() override {
    TraceFolder::SetUp();
    write("fixed.sim", sigmastar::write_model(make_model(
                           {{"CONV_2D", 2}, {"CONV_2D", 3}, {"SOFTMAX", 1}, {"Fix2Float", 1}})));
    write("log.json", "[" + layer_event("layer_4", 0, 0, 700) + "," +
                          layer_event("layer_5", 0, 700, 200) + "," +
                          layer_event("layer_6", 0, 900, 100) + "]");
  }
  Outcome op_cost(std::vector<std::string> flags) {
    flags.insert(flags.begin(),
                 {"ipu", "op-cost", "-m", path("fixed.sim"), "--ipu_log_file", path("log.json")});
    return run_npuscope(flags);
  }
};

TEST_F(Ipu, OpCostByType) {
  const Outcome outcome = op_cost({});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.output, "CONV_2D 70.000%\nSOFTMAX 20.000%\nFix2Float 10.000%\n");
  EXPECT_EQ(outcome.errors, "");
  EXPECT_THAT(read("new_log.json"), StartsWith(R"([{"ph":"X","name":"layer_0","pid":"core0")"));
  EXPECT_THAT(read("new_log.json"), HasSubstr(R"("name":"layer_3")"));
}

TEST_F(Ipu, OpCostOfEachOperator) {
  const Outcome outcome = op_cost({"--mode", "each"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.output,
            "0 CONV_2D 70.000%\n1 CONV_2D 0.000%\n2 SOFTMAX 20.000%\n3 Fix2Float 10.000%\n");
}

TEST_F(Ipu, OpCostAsJsonAndCsv) {
  const auto page = nlohmann::json::parse(op_cost({"--json"}).output);
  EXPECT_EQ(page["types"]["rows"][0]["type"], "CONV_2D");
  EXPECT_EQ(page["operators"]["rows"][0]["work_cycles"], 700);
  EXPECT_EQ(page["all"]["operators_that_take_one"], 3);
  EXPECT_EQ(op_cost({"--csv"}).output,
            "type,share,work_cycles,operators,operators_seen\nCONV_2D,0.7,700,2,2\n"
            "SOFTMAX,0.2,200,1,1\nFix2Float,0.1,100,1,1\n");
  EXPECT_THAT(op_cost({"--csv", "--mode", "each"}).output,
              HasSubstr("\n1,CONV_2D,0,0,0,true,member,"));
}

TEST_F(Ipu, OpCostSaysHowItCounted) {
  write("log.json", "[" + layer_event("0", 0, 0, 700) + "," + layer_event("2", 1, 700, 300) + "]");
  const Outcome outcome = op_cost({});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.errors, HasSubstr("its own indices tell which operator each layer is"));
  EXPECT_THAT(outcome.errors, HasSubstr("2 cores: a layer's time is the sum over the cores"));
}

TEST_F(Ipu, OpCostOfHalfAModelSaysSoFirstAndNotZero) {
  write("log.json",
        "[" + layer_event("layer_0", 0, 0, 700) + "," + layer_event("layer_1", 0, 700, 300) + "]");
  const Outcome refused = op_cost({});
  EXPECT_EQ(refused.status, 3);
  EXPECT_EQ(refused.output, "");
  EXPECT_THAT(refused.errors, HasSubstr("has the layers of 2 of the 3 operators"));
  const Outcome each = op_cost({"--mode", "each", "--allow-partial"});
  EXPECT_EQ(each.status, 0) << each.errors;
  EXPECT_EQ(each.output,
            "partial: the log covers 2 of the 3 operators that take a layer and an unknown part of "
            "the wall (the log of the core control is missing); shares are of what was seen\n"
            "0 CONV_2D 70.000%\n1 CONV_2D 0.000%\n2 SOFTMAX 30.000%\n3 Fix2Float not seen\n");
  const auto page = nlohmann::json::parse(op_cost({"--allow-partial", "--json"}).output);
  EXPECT_EQ(page["all"]["is_partial"], true);
  EXPECT_EQ(page["all"]["operators_seen"], 2);
  EXPECT_EQ(page["operators"]["rows"][3]["share"], nullptr);
  EXPECT_EQ(page["operators"]["rows"][3]["seen"], false);
  EXPECT_EQ(page["notes"][0]["severity"], "error");
}

TEST_F(Ipu, OpCostTakesTheOfflineModel) {
  sigmastar::Image image;
  image.version = "S3.1.2";
  image.model = make_model({{"CONV_2D", 2}, {"CONV_2D", 3}, {"SOFTMAX", 1}, {"Fix2Float", 1}});
  write("a.img", sigmastar::write_image(image));
  const Outcome outcome =
      run_npuscope({"ipu", "op-cost", "-m", path("a.img"), "--ipu_log_file", path("log.json")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, StartsWith("CONV_2D 70.000%\n"));
  const Outcome operators = run_npuscope({"ipu", "operators", "-m", path("a.img"), "--csv"});
  EXPECT_EQ(operators.output,
            run_npuscope({"ipu", "operators", path("fixed.sim"), "--csv"}).output);
}

TEST_F(Ipu, OperatorsSayWhatIsFused) {
  const Outcome outcome = run_npuscope({"ipu", "operators", "-m", path("fixed.sim"), "--csv"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.output,
            "index,type,layer,group,output,shape,dtype,inputs,outputs\n"
            "0,CONV_2D,0,first,out0,1;4,INT16,images,out0\n"
            "1,CONV_2D,0,member,out1,1;4,INT16,out0,out1\n"
            "2,SOFTMAX,1,alone,out2,1;4,INT16,out1,out2\n"
            "3,Fix2Float,2,alone,out3,1;4,INT16,out2,out3\n");
  const auto page =
      nlohmann::json::parse(run_npuscope({"ipu", "operators", path("fixed.sim"), "--json"}).output);
  EXPECT_EQ(page["operators"]["rows"][1]["shape"], nlohmann::json::parse("[1,4]"));
  EXPECT_EQ(page["model"]["layers"], 3);
  EXPECT_THAT(run_npuscope({"ipu", "operators", path("fixed.sim")}).output, HasSubstr("[1, 4]"));
}

TEST_F(Ipu, AnEmptyFileWasCalledEncrypted) {
  write("empty", "");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"ipu", "info", "-m"}, {"ipu", "operators", "-m"}}) {
    std::vector<std::string> flags = words;
    flags.push_back(path("empty"));
    const Outcome outcome = run_npuscope(flags);
    EXPECT_EQ(outcome.status, 3);
    EXPECT_THAT(outcome.errors, HasSubstr("an empty file"));
  }
  write("log.json", "");
  EXPECT_THAT(op_cost({}).errors, HasSubstr("log.json: an empty file"));
  const Outcome timeline =
      run_npuscope({"ipu", "timeline", "-c0", path("empty"), "-v", "ipu-muffin"});
  EXPECT_EQ(timeline.status, 3);
  EXPECT_THAT(timeline.errors, HasSubstr("an empty file"));
}

TEST_F(Ipu, ATimelineInUtf16SaysSo) {
  std::string wide = "\xff\xfe";
  for (const char c : read("log.json")) wide += {c, '\0'};
  write("log.json", wide);
  const Outcome outcome = op_cost({});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.errors, HasSubstr("text in UTF-16"));
}

TEST_F(Ipu, RunSaysWhatAFixedModelIs) {
  const Outcome outcome = run_npuscope({"run", path("fixed.sim")});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.errors, HasSubstr("a SigmaStar fixed model, which holds operators but no"));
}

TEST_F(Ipu, OpCostErrors) {
  EXPECT_EQ(op_cost({"--mode", "all"}).status, 2);
  EXPECT_EQ(op_cost({"--table", "types"}).status, 2);
  EXPECT_EQ(op_cost({"-o", path("log.json")}).status, 2);
  EXPECT_EQ(op_cost({"-o", path("missing/x.json")}).status, 4);
  EXPECT_EQ(run_npuscope({"ipu"}).status, 2);
  EXPECT_EQ(run_npuscope({"ipu", "op-cost", "-m", path("fixed.sim")}).status, 2);
  write("fixed.sim", "SGSI");
  EXPECT_EQ(op_cost({}).status, 3);
}

// A log of one layer, with a conv that has no end where `whole` is false.
std::string core_log(bool whole) {
  using namespace sigmastar;
  LogWriter log(*layout_of_chip("ipu-muffin"), default_log_bytes);
  log.write(LogEngine::layer, LogMark::begin, 0, 100);
  log.write(LogEngine::conv, LogMark::begin, 0, 100);
  if (whole) log.write(LogEngine::conv, LogMark::end, 0, 500);
  log.write(LogEngine::layer, LogMark::end, 0, 900);
  return log.bytes();
}

TEST_F(Ipu, TimelineTakesTheVendorsFlags) {
  write("core0.bin", core_log(true));
  write("core1.bin", core_log(true));
  const Outcome outcome =
      run_npuscope({"ipu", "timeline", "-c0", path("core0.bin"), "-c1", path("core1.bin"), "-f",
                    "900", "-v", "ipu-muffin", "-o", path("log_ctrl0.json")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
  EXPECT_THAT(outcome.output, HasSubstr("core 1        4       1            800"));
  const auto events = nlohmann::json::parse(read("log_ctrl0.json"))["traceEvents"];
  EXPECT_EQ(events[2]["args"]["total_cycle"], 800);
  EXPECT_EQ(events[2]["args"]["conv_cycle_percent"], 50.0);
  const Outcome shown = run_npuscope({"ops", path("log_ctrl0.json")});
  EXPECT_EQ(shown.status, 0) << shown.errors;
  EXPECT_THAT(shown.output, HasSubstr("layer 0"));
}

TEST_F(Ipu, TimelineSaysWhatIsMissing) {
  write("core0.bin", core_log(false) + "cut");
  const Outcome outcome = run_npuscope(
      {"ipu", "timeline", "--core0", path("core0.bin"), "-v", "ipu-muffin", "-o", path("t.json")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr("1 interval that began has no end"));
  EXPECT_THAT(outcome.errors, HasSubstr("ends 3 bytes into a record"));
}

TEST_F(Ipu, TimelineErrors) {
  write("core0.bin", core_log(true));
  const auto status = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"ipu", "timeline"});
    const Outcome outcome = run_npuscope(flags);
    EXPECT_NE(outcome.errors, "");
    return outcome.status;
  };
  const std::string log = path("core0.bin"), out = path("t.json");
  EXPECT_EQ(status({"-c0", log, "-o", out}), 2);
  EXPECT_EQ(status({"-c0", log, "-v", "muffin", "-o", out}), 2);
  EXPECT_EQ(status({"-v", "ipu-muffin", "-o", out}), 2);
  EXPECT_EQ(status({"-c0", log, "--core0", log, "-v", "ipu-muffin", "-o", out}), 2);
  EXPECT_EQ(status({"-c0", log, "-v", "ipu-muffin", "-f", "0", "-o", out}), 2);
  EXPECT_EQ(status({"-c0", log, "-v", "ipu-muffin", "-o", log}), 2);
  EXPECT_EQ(status({"-c0", path("none.bin"), "-v", "ipu-muffin", "-o", out}), 3);
  EXPECT_EQ(status({"-c0", log, "--layout", path("log.json"), "-o", out}), 3);
  EXPECT_EQ(status({"-c0", log, "-v", "ipu-muffin", "-o", path("none/t.json")}), 4);
}

TEST_F(Ipu, InfoRoundedTheScaleAndPrintedTheBufferAsTheSize) {
  sigmastar::Image image;
  image.version = "S3.1.2";
  image.model = make_model({{"CONV_2D", 1}});
  image.inputs.push_back({.name = "images",
                          .type = 3,
                          .shape = {1, 480, 800, 3},
                          .bytes = 1'540'096,
                          .element_format = 4,
                          .is_image = true,
                          .scale = 0.00055925F});
  image.outputs.push_back({.name = "output",
                           .type = 7,
                           .shape = {1, 3, 60, 100, 7},
                           .bytes = 520'192,
                           .element_format = 21});
  write("a.img", sigmastar::write_image(image));
  const Outcome text = run_npuscope({"ipu", "info", "-m", path("a.img")});
  EXPECT_EQ(text.status, 0) << text.errors;
  EXPECT_THAT(text.output, HasSubstr("size                          1,536,000\n"));
  EXPECT_THAT(text.output, HasSubstr("buffer                        1,540,096\n"));
  EXPECT_THAT(text.output, HasSubstr("scale                         0.00055925\n"));
  const auto page =
      nlohmann::json::parse(run_npuscope({"ipu", "info", "-m", path("a.img"), "--json"}).output);
  EXPECT_EQ(page["inputs"][0]["shape"], nlohmann::json::parse("[1,480,800,3]"));
  EXPECT_EQ(page["inputs"][0]["scale"], 0.00055925);
  EXPECT_EQ(page["outputs"][0]["bytes"], 504'000);
}

TEST_F(Ipu, InfoOfAnImageAndOfHalfOfIt) {
  sigmastar::Image image;
  image.version = "S3.1.2";
  image.inputs.push_back({.name = "images", .type = 3, .shape = {1, 8, 8, 3}, .is_image = true});
  image.model = make_model({{"CONV_2D", 1}});
  const std::string bytes = sigmastar::write_image(image);
  write("a.img", bytes);
  write("half.img", bytes.substr(0, bytes.size() / 2));
  const Outcome whole =
      run_npuscope({"ipu", "info", "-m", path("a.img"), "--soc_version", "opera"});
  EXPECT_EQ(whole.status, 0) << whole.errors;
  EXPECT_THAT(whole.output, HasSubstr("Offline IMG Version                S3.1.2\n"));
  EXPECT_THAT(whole.output, HasSubstr("Offline Model Max Batch Number     unknown\n"));
  EXPECT_THAT(whole.output, HasSubstr("input_width_alignment         32 (of opera)\n"));
  const Outcome half = run_npuscope({"ipu", "info", "-m", path("half.img"), "--json"});
  EXPECT_EQ(half.status, 3);
  const auto page = nlohmann::json::parse(half.output);
  EXPECT_EQ(page["offline_model"]["version"], "S3.1.2");
  EXPECT_NE(page["notes"].size(), 0u);
  write("encrypted.img", "\x9a\x03\x7f");
  const Outcome encrypted = run_npuscope({"ipu", "info", "-m", path("encrypted.img")});
  EXPECT_EQ(encrypted.status, 3);
  EXPECT_THAT(encrypted.errors, HasSubstr("may be encrypted"));
}

}  // namespace
}  // namespace npuscope::cli::ipu_test
