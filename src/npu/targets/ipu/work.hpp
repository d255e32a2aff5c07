// What an operator, or a fused group, has to do, in terms that can be divided among cores and
// tiles: rows of its result (of all images of a batch one below the other), and columns where the
// weights of some columns can do without the others.
//
//   conv 3x3 of [1, 64, 56, 56]   rows 56; stream of 56 rows, windows of 3; weights 36,864 bytes;
//                                 56 x 56 pixels x 18 passes of the array x 2 columns of lanes
#pragma once

#include <cstdint>
#include <vector>

#include "npu/targets/ipu/lowering.hpp"
#include "npu/targets/ipu/target.hpp"

namespace npuscope::npu::ipu {

// From `begin` up to, not including, `end`.
struct Range {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t size() const { return end - begin; }
};

// total * part / whole, rounded down, without overflow for whole below 2^32.
constexpr std::uint64_t share_of(std::uint64_t total, std::uint64_t part, std::uint64_t whole) {
  return total / whole * part + total % whole * part / whole;
}
constexpr std::uint64_t share_of(std::uint64_t total, Range part, std::uint64_t whole) {
  return share_of(total, part.end, whole) - share_of(total, part.begin, whole);
}

// An input that is loaded as rows are computed.
struct Stream {
  TensorId tensor = TensorId::none;
  std::uint64_t bytes = 0;
  bool is_constant = false;
  // Windows over input rows, image by image. in_rows 0: every row takes its even share.
  std::uint64_t images = 1, in_rows = 0, out_rows = 0;
  std::int64_t extent = 1, stride = 1, pad = 0;

  // Bytes that rows need of it, of `rows` in all.
  std::uint64_t needed(Range of, std::uint64_t rows) const;
};

// On the array: a cycle for each pixel, each pass over input lanes, each group of output lanes.
struct ConvWork {
  std::uint64_t pixels = 0;
  std::uint64_t passes = 0;
  std::uint64_t columns = 0;  // of one group of a grouped convolution
};

struct VectorWork {
  std::uint64_t elements = 0;
  double passes = 0;
};

struct Work {
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;  // 1: cannot be divided by columns
  std::vector<Stream> streams;
  std::uint64_t weight_bytes = 0;    // constants that all rows need
  std::uint64_t resident_bytes = 0;  // results of other operators that all rows need
  std::uint64_t output_bytes = 0;
  std::uint64_t between_bytes = 0;  // results within a group: never leave the chip
  std::vector<ConvWork> convs;
  std::vector<VectorWork> vectors;
  std::uint64_t multiply_accumulates = 0;

  std::uint64_t input_bytes() const;  // of other operators' results, each once
  std::uint64_t constant_bytes() const;
};

// Of `batch` images at once.
Work work_of(const Lowered& lowered, const Operator& op, std::uint64_t batch, const Target& target);

}  // namespace npuscope::npu::ipu
