// examples/sigmastar is what the reference IPU writes now, so that the guide's figures are too.
#include <gtest/gtest.h>

#include "formats/sigmastar/image.hpp"
#include "formats/sigmastar/model.hpp"
#include "npu/targets/ipu/ipu_fixture.hpp"
#include "npu/targets/ipu/simulate.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::npu::ipu::example_test {
namespace {

std::string example(const std::string& name) {
  const auto file =
      MappedFile::open(std::string(NPUSCOPE_SOURCE_DIR "/examples/sigmastar/") + name);
  EXPECT_TRUE(file) << (file ? "" : file.error().message);
  return file ? std::string(as_text(file->bytes())) : "";
}

TEST(IpuExample, IsWhatTheReferenceIpuWrites) {
  SCOPED_TRACE("where it is not, follow examples/sigmastar/README.md and the guide again");
  CompileOptions options;
  options.description = "light_squeezenet";
  const auto compiled = compile(repository_graph("light_squeezenet.onnx"), muffin(), options);
  ASSERT_TRUE(compiled) << compiled.error().message;
  const std::string image = "squeezenet_fixed.sim_sgsimg.img";
  EXPECT_TRUE(sigmastar::write_model(compiled->model) == example("squeezenet_fixed.sim"));
  EXPECT_TRUE(sigmastar::write_image(compiled->image) == example(image));
  const auto inference = simulate(compiled->image.own->program, muffin(), true);
  const auto logs = write_logs(inference, {}, *sigmastar::layout_of_chip("ipu-muffin"),
                               sigmastar::default_log_bytes);
  EXPECT_TRUE(logs.cores[0].bytes() == example(image + "_log_core0.bin"));
  EXPECT_TRUE(logs.cores[1].bytes() == example(image + "_log_core1.bin"));
  EXPECT_TRUE(logs.control.bytes() == example(image + "_log_corectrl0.bin"));
}

}  // namespace
}  // namespace npuscope::npu::ipu::example_test
