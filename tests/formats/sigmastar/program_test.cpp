// npuscope's own section of an offline image.
#include "formats/sigmastar/program.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <random>

#include "formats/sigmastar/image.hpp"
#include "formats/sigmastar/image_layout.hpp"

namespace npuscope::sigmastar::program_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

OwnSection section() {
  OwnSection own;
  own.batch = {4, 4, {4}, "one_buf"};
  own.inputs.push_back({"NHWC", "RGB", "RGB", 32, 1});
  own.program.target = "name = \"t\"\n";
  own.program.cores = 2;
  own.program.layers.push_back(
      {0, 2, std::uint64_t{1} << 40, 300, 200, 100, {{{300, 0, 0, 0}, {200, 70, 10, 100}}, {}}});
  own.program.layers.push_back({2, 1, 0, 0, 9, 9, {{{}, {5, 0, 3, 5}}, {{}, {4, 0, 3, 4}}}});
  return own;
}

Image image() {
  Image made;
  made.version = "S3.0.0_test";
  made.inputs.push_back({.name = "x", .type = 3, .shape = {1, 4, 4, 3}, .is_image = true});
  made.own = section();
  return made;
}

Result<OwnSection> read(const std::string& bytes) {
  return read_own_section(as_byte_span(bytes), "a.img");
}

TEST(IpuProgram, SurvivesTheFile) {
  const auto own = read(write_own_section(section()));
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->program, section().program);
  EXPECT_EQ(own->batch.max, 4u);
  EXPECT_THAT(own->batch.supported, ::testing::ElementsAre(4u));
  EXPECT_EQ(own->batch.mode, "one_buf");
  ASSERT_EQ(own->inputs.size(), 1u);
  EXPECT_EQ(own->inputs[0].training, "RGB");
  EXPECT_EQ(own->inputs[0].width_alignment, 32u);
}

TEST(IpuProgram, LiesInAnImageBesideWhatTheVendorsToolsRead) {
  const std::string bytes = write_image(image());
  const auto read = read_image(as_byte_span(bytes), "a.img");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->problems, IsEmpty());
  ASSERT_TRUE(read->own);
  EXPECT_EQ(read->own->program, section().program);
  EXPECT_EQ(read->inputs[0].name, "x");
  Image plain = image();
  plain.own.reset();
  const std::string without = write_image(plain);
  EXPECT_FALSE(read_image(as_byte_span(without), "a.img")->own);
}

TEST(IpuProgram, RefusesWhatNoHardwareCanDo) {
  OwnSection own = section();
  const auto error = [&] { return read(write_own_section(own)).error().message; };
  own.program.cores = 3;
  EXPECT_EQ(error(), "a.img: the program in it is broken (3 cores); compile again");
  own = section();
  own.program.cores = 1;
  EXPECT_THAT(error(), HasSubstr("a layer on more cores than it has"));
  own = section();
  own.program.layers[0].cores[0][0].conv_cycles = 1;
  EXPECT_THAT(error(), HasSubstr("tile 0 does what no tile can"));
  own = section();
  own.program.layers[0].cores[0][1].load_bytes = 0xffffffff;
  EXPECT_THAT(error(), HasSubstr("tile 1 does what no tile can"));
}

TEST(IpuProgram, AWildPlaceInTheHeaderIsAProblem) {
  std::string bytes = write_image(image());
  for (const std::uint32_t wild : {0xfffffff0u, 0x7fffffffu, std::uint32_t(bytes.size())}) {
    for (const std::size_t field : {8, 12}) {
      std::string broken = bytes;
      std::memcpy(broken.data() + own_field + field, &wild, sizeof(wild));
      const auto read = read_image(as_byte_span(broken), "a.img");
      ASSERT_TRUE(read);
      EXPECT_FALSE(read->own);
      EXPECT_THAT(read->problems, Not(IsEmpty()));
    }
  }
}

TEST(IpuProgram, AnyBytesAreAProgramOrAnError) {
  const std::string whole = write_own_section(section());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto own = read(whole.substr(0, size));
    EXPECT_TRUE(own || !own.error().message.empty());
  }
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = whole;
    for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
      bytes[random() % bytes.size()] = char(random());
    }
    const auto own = read(bytes);
    if (!own) continue;
    EXPECT_LE(own->program.cores, 2u);
    for (const ProgramLayer& layer : own->program.layers) {
      EXPECT_LE(layer.cores.size(), own->program.cores);
    }
  }
}

}  // namespace
}  // namespace npuscope::sigmastar::program_test
