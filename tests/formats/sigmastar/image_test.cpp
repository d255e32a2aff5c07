#include "formats/sigmastar/image.hpp"

#include <gmock/gmock.h>

#include <random>

#include "formats/sigmastar/samples.hpp"

namespace npuscope::sigmastar::image_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Image sample(ImageHeader header) {
  Image image;
  image.header = header;
  image.version = header == ImageHeader::s3 ? "S3.1.2" : "S1.0.9_verified_2021";
  image.variable_buffer_bytes = 123'456;
  image.counters = {1, 2, 3, 4, 5, 6, 7, 8};
  ImageTensor input;
  input.name = "images";
  input.type = 3;
  input.shape = {1, 480, 800, 3};
  input.padded_width = 16;
  input.inner_stride_bytes = 16;
  input.bytes = 1'536'000;
  input.element_format = 4;
  input.is_image = true;
  input.zero_point = -7;
  input.scale = 0.25f;
  image.inputs = {input};
  ImageTensor output = input;
  output.name = "output";
  output.type = 0;
  output.shape = {1, 3, 60, 100, 7};
  output.element_format = 21;
  output.is_image = false;
  image.outputs = {output, output};
  image.model = test_support::make_model({{"CONV_2D", 2}, {"CONV_2D", 3}, {"SOFTMAX", 1}});
  return image;
}

Result<Image> read(const std::string& bytes) { return read_image(as_byte_span(bytes), "m.img"); }

TEST(OfflineImage, BothGenerationsOfHeaders) {
  for (const ImageHeader header : {ImageHeader::s3, ImageHeader::s1}) {
    const Image written = sample(header);
    const auto image = read(write_image(written));
    ASSERT_TRUE(image) << image.error().message;
    EXPECT_THAT(image->problems, IsEmpty());
    EXPECT_EQ(image->header, header);
    EXPECT_EQ(image->version, written.version);
    EXPECT_EQ(image->stated_bytes, image->file_bytes);
    EXPECT_EQ(image->variable_buffer_bytes, 123'456u);
    EXPECT_EQ(image->section_offset, 0x2000u);
    ASSERT_EQ(image->inputs.size(), 1u);
    EXPECT_EQ(image->inputs[0].name, "images");
    EXPECT_THAT(image->inputs[0].shape, ElementsAre(1, 480, 800, 3));
    EXPECT_EQ(image->inputs[0].zero_point, -7);
    EXPECT_EQ(image->inputs[0].scale, 0.25f);
    EXPECT_EQ(element_format_name(image->inputs[0].element_format), "BGRA");
    EXPECT_TRUE(image->inputs[0].is_image);
    ASSERT_EQ(image->outputs.size(), 2u);
    EXPECT_THAT(image->outputs[1].shape, ElementsAre(1, 3, 60, 100, 7));
    ASSERT_TRUE(image->model);
    EXPECT_EQ(image->model->operators.size(), 3u);
    EXPECT_FALSE(image->is_stripped());
  }
}

TEST(OfflineImage, StrippedOfItsOperators) {
  Image stripped = sample(ImageHeader::s3);
  stripped.model->operators.clear();
  const auto image = read(write_image(stripped));
  ASSERT_TRUE(image);
  EXPECT_TRUE(image->is_stripped());
  EXPECT_EQ(image->inputs.size(), 1u);
  EXPECT_THAT(image->problems, IsEmpty());
}

TEST(OfflineImage, EncryptedAndForeignFiles) {
  EXPECT_THAT(read("\x8f\x12 encrypted").error().message, HasSubstr("may be encrypted"));
  EXPECT_THAT(read("").error().message, HasSubstr("m.img: an empty file"));
  EXPECT_THAT(read("SGSI").error().message, HasSubstr("ends at byte 4, inside its header of 444"));
  std::string strange = write_image(sample(ImageHeader::s3));
  strange[0xe0] = 'X';
  EXPECT_THAT(read(strange).error().message, HasSubstr("has no version like S3.1.2"));
}

TEST(OfflineImage, WhatDoesNotFitIsAProblem) {
  std::string bytes = write_image(sample(ImageHeader::s3));
  bytes[0x188] = 99;
  bytes += "more";
  const auto image = read(bytes);
  ASSERT_TRUE(image);
  EXPECT_THAT(image->problems,
              ElementsAre(HasSubstr("something was appended"), HasSubstr("parts of two files")));
}

TEST(OfflineImage, CutAnywhere) {
  for (const ImageHeader header : {ImageHeader::s3, ImageHeader::s1}) {
    const std::string whole = write_image(sample(header));
    for (std::size_t length = 0; length < whole.size(); length += length < 0x2000 ? 61 : 1) {
      const std::string cut = whole.substr(0, length);  // its own allocation
      const auto image = read(cut);
      if (!image) continue;
      EXPECT_THAT(image->problems, Contains(HasSubstr("it is cut")));
    }
  }
}

TEST(OfflineImage, WildOffsets) {
  const std::string whole = write_image(sample(ImageHeader::s1));
  std::mt19937 random(5);
  std::size_t problems = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = whole;
    // In the header or behind the model's beginning: what lies between is empty.
    for (int flips = 0; flips < 4; ++flips) {
      const bool in_header = random() % 2 == 0;
      const std::size_t at =
          in_header ? 12 + random() % 0x1b0 : 0x2000 + random() % (bytes.size() - 0x2000);
      bytes[at] = char(random());
    }
    const auto image = read(bytes);
    problems += !image || !image->problems.empty();
  }
  EXPECT_GT(problems, 10'000u);
}

}  // namespace
}  // namespace npuscope::sigmastar::image_test
