// What npuscope's compiler adds to an offline image, in a section of its own beside what the
// vendor's tools read: the batches, the inputs' formats, and the program that the reference NPU
// executes.
//
//   image->own->batch.suggested                    4
//   image->own->program.layers[3].cores[1][2]      core 1, tile 2: loads 90112 bytes, 8192 cycles
//   of
//                                                  conv, 1024 of vector, stores 45056 bytes
//
// docs/formats/sigmastar.md has the table. Nothing of it is the vendor's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/files.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::sigmastar {

// A tile of a layer on one core. What it does not need is 0.
struct ProgramTile {
  std::uint32_t load_bytes = 0;
  std::uint32_t conv_cycles = 0;
  std::uint32_t vector_cycles = 0;
  std::uint32_t store_bytes = 0;
  bool operator==(const ProgramTile&) const = default;
};

// A layer of the hardware: an operator of the model, or a fused group.
struct ProgramLayer {
  std::uint32_t first_operator = 0;
  std::uint32_t operators = 1;
  std::uint64_t multiply_accumulates = 0;
  std::uint64_t weight_bytes = 0;  // once, however many cores load them
  std::uint64_t input_bytes = 0;   // of what it reads of other layers' results, once
  std::uint64_t output_bytes = 0;
  // By core: tile 0 only loads, ahead of the layer; tiles from 1 on are the layer. Empty: the core
  // has no part in it.
  std::vector<std::vector<ProgramTile>> cores;
  bool operator==(const ProgramLayer&) const = default;
};

struct Program {
  std::string target;  // the target file's text
  std::uint32_t cores = 1;
  std::vector<ProgramLayer> layers;
  bool operator==(const Program&) const = default;
};

struct ImageBatch {
  std::uint32_t max = 1;                 // Max Batch Number, what --batch said
  std::uint32_t suggested = 1;           // what the program inside computes at once
  std::vector<std::uint32_t> supported;  // of one_buf: nothing else can be chosen
  std::string mode;                      // n_buf or one_buf
};

struct InputFormat {
  std::string layout;    // NHWC, NCHW
  std::string training;  // training_input_formats
  std::string chip;      // input_formats
  std::uint32_t width_alignment = 1, height_alignment = 1;
};

struct OwnSection {
  ImageBatch batch;
  std::vector<InputFormat> inputs;  // as the image's
  Program program;
};

// A FlatBuffer.
std::string write_own_section(const OwnSection& section);

// An input error, which begins with `name`, for bytes that are no such section, and for one that
// asks of the reference NPU what it cannot execute.
Result<OwnSection> read_own_section(ByteSpan bytes, const std::string& name);

}  // namespace npuscope::sigmastar
