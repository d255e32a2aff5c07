#include "npuscope/npu/ipu/run.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <random>

#include "formats/sigmastar/image.hpp"
#include "ipu_fixture.hpp"

namespace npuscope::npu::ipu::run_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class IpuRun : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              fmt::format("npuscope-ipu-run-{}", testing::UnitTest::GetInstance()->random_seed());
    folder_ /= testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::create_directories(folder_);
    request_.image = folder_ / "m.img";
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& bytes) const {
    std::ofstream(request_.image, std::ios::binary) << bytes;
  }
  Result<RunOutcome> run() const { return ipu::run(request_); }

  static const std::string& image() {
    static const std::string bytes =
        sigmastar::write_image(compiled_ipu(repository_graph("light_squeezenet.onnx")).image);
    return bytes;
  }

  fs::path folder_;
  RunRequest request_;
};

TEST_F(IpuRun, TimesAddUp) {
  write(image());
  const auto outcome = run();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_DOUBLE_EQ(outcome->ipu_s, double(outcome->inference->cycles) / 900e6);
  EXPECT_GT(outcome->invoke_s, outcome->ipu_s);
  EXPECT_FALSE(outcome->is_logged);
  EXPECT_TRUE(outcome->logs.empty());
  EXPECT_TRUE(outcome->warnings.empty());
}

TEST_F(IpuRun, LoggingCostsTime) {
  write(image());
  const auto plain = run();
  request_.log_folder = folder_;
  const auto logged = run();
  ASSERT_TRUE(plain && logged);
  EXPECT_GT(logged->ipu_s, plain->ipu_s);
  ASSERT_EQ(logged->logs.size(), 3u);
  for (const LogFile& log : logged->logs) {
    EXPECT_EQ(log.path, folder_ / fmt::format("m.img_log_{}.bin", log.log));
    EXPECT_EQ(fs::file_size(log.path), log.bytes);
    EXPECT_EQ(log.needed_bytes, log.bytes);
  }
  EXPECT_EQ(logged->logs[2].bytes, 32u);
}

TEST_F(IpuRun, ABufferThatIsTooSmallIsSaidWithTheSizeThatIsNot) {
  write(image());
  request_.log_folder = folder_;
  request_.log_bytes = 5000;
  const auto small = run();
  ASSERT_TRUE(small);
  EXPECT_EQ(small->logs[0].bytes, 4992u);
  ASSERT_EQ(small->warnings.size(), 2u);
  EXPECT_THAT(small->warnings[0],
              HasSubstr("the log is incomplete; run again with --ipu_log_size="));
  request_.log_bytes = std::max(small->logs[0].needed_bytes, small->logs[1].needed_bytes) + 32;
  EXPECT_TRUE(run()->warnings.empty());
}

TEST_F(IpuRun, OneCoreHasOneLog) {
  Target target = muffin();
  target.cores = 1;
  write(sigmastar::write_image(
      compiled_ipu(repository_graph("light_squeezenet.onnx"), target).image));
  request_.log_folder = folder_;
  const auto outcome = run();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->logs.size(), 2u);
}

TEST_F(IpuRun, ErrorsAreSentences) {
  write("SGSI");
  EXPECT_THAT(run().error().message, HasSubstr("inside its header"));
  sigmastar::Image vendors;
  vendors.version = "S3.1.2";
  write(sigmastar::write_image(vendors));
  EXPECT_THAT(run().error().message,
              HasSubstr("has no program for it; only offline images of `npuscope compile`"));
  write(image());
  request_.log_folder = folder_ / "none";
  EXPECT_EQ(run().error().kind, ErrorKind::output);
}

TEST_F(IpuRun, AnImageCutAnywhereIsAnError) {
  for (std::size_t size = 0; size < image().size(); size += 1 + size / 64) {
    write(image().substr(0, size));
    EXPECT_FALSE(run()) << size;
  }
}

TEST_F(IpuRun, AnyBytesEndInATimeOrAnError) {
  std::mt19937 random(31);
  for (int i = 0; i < 300; ++i) {
    std::string bytes = image();
    for (int flip = 0; flip < 3; ++flip) {
      bytes[0x1ff0 + random() % (bytes.size() - 0x1ff0)] = char(random());
    }
    write(bytes);
    const auto outcome = run();
    EXPECT_TRUE(outcome ? outcome->inference->cycles > 0 : !outcome.error().message.empty());
  }
}

}  // namespace
}  // namespace npuscope::npu::ipu::run_test
