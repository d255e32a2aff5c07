// SigmaStar's offline model (.img), what its header, its tensor descriptors and the model within
// say:
//
//   auto image = read_image(file->bytes(), "deploy_fixed.sim_sgsimg.img");
//   image->version               "S3.1.2"
//   image->inputs[0]             images, UINT8, [1, 480, 800, 3], BGRA, 1536000 bytes
//   image->problems              "holds 9000 of the 12,288 bytes that it says it has: …"
//
// Two generations of headers (S3.x, S1.0.x) are told apart by where the version text stands.
// docs/formats/sigmastar.md has the byte table. What is not known of the format is not guessed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/sigmastar/model.hpp"
#include "formats/sigmastar/program.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::sigmastar {

struct ImageTensor {
  std::string name;
  std::uint32_t type = 0;  // TFLite's TensorType
  std::vector<std::uint32_t> shape;
  std::uint32_t padded_width = 0;  // the innermost dimension, as it lies in memory
  std::uint32_t inner_stride_bytes = 0;
  std::uint32_t bytes = 0;           // of its buffer, which may be larger than the data in it
  std::uint32_t element_format = 0;  // 4: BGRA, 5: YUV_NV12 …
  bool is_image = false;
  std::int64_t zero_point = 0;
  float scale = 0;
};

// Bytes of the data, as the board's tool prints its size: for BGRA four a pixel. None where neither
// the element format nor the type is known.
std::optional<std::uint64_t> data_bytes(const ImageTensor& tensor);

// "BGRA"; empty for a number that is not known.
std::string element_format_name(std::uint32_t format);

enum class ImageHeader : std::uint8_t { s3, s1 };

struct Image {
  ImageHeader header = ImageHeader::s3;
  std::string version;                      // of the SDK
  std::uint32_t stated_bytes = 0;           // size, as the header says
  std::uint64_t file_bytes = 0;             // as it is
  std::uint32_t variable_buffer_bytes = 0;  // the first buffer
  std::uint32_t section_offset = 0;         // 0x2000: of the model; else of a separate weight blob
  std::uint32_t section_bytes = 0;
  std::array<std::uint32_t, 8> counters{};  // equal to the model's metadata_buffer
  std::vector<ImageTensor> inputs, outputs;
  std::optional<Model> model;         // none: it could not be read, and `problems` says why
  std::optional<OwnSection> own;      // what `npuscope compile` adds; none in the vendor's
  std::vector<std::string> problems;  // sentences: what is cut, or does not fit together

  // Product files may hold the model without its operators.
  bool is_stripped() const { return model && model->operators.empty(); }
};

bool looks_like_image(std::string_view head);

// An input error for what is no image (encrypted ones are none that can be told), and for a header
// that is cut. Beyond that, what can be read is.
Result<Image> read_image(ByteSpan bytes, const std::string& name);

// The fixed model, of a file that is one or of an offline image around it. An input error beyond
// those of read_model() where an image lacks its operators.
Result<Model> read_model_or_image(ByteSpan bytes, const std::string& name);

// The offline model as bytes: what read_image() reads.
//
//   Image image;                      // version, tensors, variable buffer, model
//   const std::string bytes = write_image(image);
//
// Sizes, offsets and the eight counters follow from the rest. Weights are not written.
std::string write_image(const Image& image);

}  // namespace npuscope::sigmastar
