#include "report/programs/ipu_documents.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "formats/sigmastar/image.hpp"
#include "npu/targets/ipu/simulate.hpp"

namespace npuscope::report::ipu_run_test {
namespace {

npu::ipu::RunOutcome sample(bool logged, std::string input = "images",
                            std::string batch_mode = "one_buf") {
  npu::ipu::RunOutcome outcome;
  sigmastar::Image image;
  npu::ipu::Inference inference;
  sigmastar::OwnSection own;
  own.batch = {4, 4, {4}, std::move(batch_mode)};
  own.inputs.push_back({"NHWC", "RGB", "RGB", 32, 1});
  own.program.cores = 2;
  image.own = own;
  image.variable_buffer_bytes = 1234567;
  image.inputs.push_back({.name = std::move(input),
                          .type = 3,
                          .shape = {4, 480, 800, 3},
                          .bytes = 4608000,
                          .is_image = true});
  image.outputs.push_back({.name = "output",
                           .type = 0,
                           .shape = {1, 60, 100, 7},
                           .bytes = 168000,
                           .element_format = 21});
  outcome.inferences = 1;
  inference.cycles = 7'650'000;
  inference.load_bytes = 30'000'000;
  inference.store_bytes = 12'345'000;
  outcome.clock_hz = 900e6;
  outcome.ipu_s = 8.5e-3;
  outcome.invoke_s = 8.72117e-3;
  outcome.is_logged = logged;
  if (logged) outcome.logs.push_back({"core0", "logs/m.img_log_core0.bin", 32, 64, 2});
  outcome.image = std::make_shared<const sigmastar::Image>(std::move(image));
  outcome.inference = std::make_shared<const npu::ipu::Inference>(inference);
  return outcome;
}

TEST(IpuRunText, IsTheBoardToolsBlock) {
  EXPECT_EQ(ipu_run_text(sample(false), "m.img"),
            "mi_ipu_datatype.h info:\n"
            "Max Input:      60\n"
            "Max Output:     60\n"
            "NAME(0): m.img\n"
            "Invoke Time: 8.72117 ms\n"
            "IPU Time: 8.50000 ms\n"
            "BandWidth: 42.345 MB\n"
            "Variable size: 1234567\n"
            "work_mode: dual core\n"
            "Batch mode: one_buf\n"
            "Setting batch: 4\n"
            "Suggest batch: 4\n"
            "Input(0):\n"
            "    name:       images\n"
            "    dtype:      RGB\n"
            "    shape:      [4, 480, 800, 3]\n"
            "    size:       4608000\n"
            "Output(0):\n"
            "    name:       output\n"
            "    dtype:      FLOAT32\n"
            "    shape:      [1, 60, 100, 7]\n"
            "    size:       168000\n");
  EXPECT_EQ(ipu_logging_remark(sample(false)), "");
}

TEST(IpuRunText, MarksTimesThatALogMadeLonger) {
  const std::string text = ipu_run_text(sample(true), "m.img");
  EXPECT_THAT(text, testing::HasSubstr("Invoke Time: 8.72117 ms (logging)\n"
                                       "IPU Time: 8.50000 ms (logging)\n"
                                       "BandWidth: 42.345 MB (logging)\n"));
  EXPECT_THAT(text, testing::EndsWith("IPU log: logs/m.img_log_core0.bin (32 bytes)\n"
                                      "IPU clock: 900 MHz, what ipu timeline takes as -f\n"));
  EXPECT_THAT(ipu_logging_remark(sample(true)), testing::HasSubstr("not to be trusted"));
}

TEST(IpuRunDocument, HasTheSameFigures) {
  const auto page =
      nlohmann::json::parse(document_json(make_ipu_run_document(sample(true), "m.img"), {}));
  const auto& run = page.at("run");
  EXPECT_EQ(run.at("invoke_seconds"), 8.72117e-3);
  EXPECT_EQ(run.at("ipu_cycles"), 7'650'000);
  EXPECT_EQ(run.at("bandwidth_bytes"), 42'345'000);
  EXPECT_EQ(run.at("work_mode"), "dual core");
  EXPECT_EQ(run.at("times_can_be_trusted"), false);
  EXPECT_EQ(page.at("inputs").at("rows").at(0).at("dtype"), "RGB");
  EXPECT_EQ(page.at("logs").at("rows").at(0).at("lost_records"), 2);
}

TEST(IpuRunText, NamesFromTheFileAreOnlyNames) {
  const npu::ipu::RunOutcome outcome = sample(false, "a\x1b[31m", "\x1b[0m");
  EXPECT_THAT(ipu_run_text(outcome, "m.img"), testing::Not(testing::HasSubstr("\x1b")));
}

}  // namespace
}  // namespace npuscope::report::ipu_run_test
