// npuscope ipu as a user runs it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"
#include "formats/sigmastar/samples.hpp"
#include "npuscope/formats/sigmastar/write_model.hpp"

namespace npuscope::cli {
namespace {

using sigmastar::testing::layer_event;
using sigmastar::testing::make_model;
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
            "type,share,work_cycles,operators\nCONV_2D,0.7,700,2\nSOFTMAX,0.2,200,1\n"
            "Fix2Float,0.1,100,1\n");
  EXPECT_THAT(op_cost({"--csv", "--mode", "each"}).output, HasSubstr("\n1,CONV_2D,0,0,0,member,"));
}

TEST_F(Ipu, OpCostSaysHowItCounted) {
  write("log.json", "[" + layer_event("0", 0, 0, 700) + "," + layer_event("2", 1, 700, 300) + "]");
  const Outcome outcome = op_cost({});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.errors, HasSubstr("its own indices say whose each is"));
  EXPECT_THAT(outcome.errors, HasSubstr("2 cores: a layer's time is the sum over the cores"));
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

}  // namespace
}  // namespace npuscope::cli
