// How long kernels take, and how many threads of HVX share them.
#include "npu/targets/nsp/compile/tasks/vector_work.hpp"

#include "npu/targets/nsp/compile/compile_fixture.hpp"

namespace npuscope::npu::nsp::vector_work_test {
namespace {

VectorSize size_of(std::uint64_t kib, DataType type = DataType::float16) {
  VectorSize size;
  size.type = type;
  size.bytes = size.padded_bytes = size.cut_bytes = kib * 1024;
  return size;
}

Target tiled() {
  Target target;
  target.hvx_threads = 4;
  target.vector_tile_bytes = 32 * 1024;
  target.default_kernel = {10, 100};
  target.kernels["elementadd"] = {20, 100};
  target.kernels["elementadd_int8"] = {30, 100};
  target.kernels["convertto_wide"] = {40, 0};
  target.kernels["aicconvertfromd32_int8"] = {70, 0};
  target.kernels["aicconvertfromd32_int8_matrix"] = {150, 0};
  KernelCost matrix{0, 0};
  matrix.cycles_per_padded_kib = 5;
  matrix.on_hmx = true;
  target.kernels["elementtanh_matrix"] = matrix;
  KernelCost rows{0, 0};
  rows.cycles_per_row = 50;
  rows.tile_bytes = 1024;
  target.kernels["aicsoftmax"] = rows;
  return target;
}

TEST(VectorWork, GivesATileToAThread) {
  const Target target = tiled();
  const auto work = [&](std::uint64_t kib) {
    const VectorWork each = vector_work(target, "elementadd", size_of(kib));
    return std::pair(each.cycles, each.threads);
  };
  EXPECT_EQ(work(16), std::pair(std::uint64_t{100 + 16 * 20}, 1u));
  EXPECT_EQ(work(64), std::pair(std::uint64_t{100 + 32 * 20}, 2u));
  EXPECT_EQ(work(128), std::pair(std::uint64_t{100 + 32 * 20}, 4u));
  EXPECT_EQ(work(160), std::pair(std::uint64_t{200 + 40 * 20}, 4u));  // five tiles: one works twice
}

TEST(VectorWork, KnowsTypesImagesAndRows) {
  const Target target = tiled();
  EXPECT_EQ(vector_work(target, "elementadd", size_of(1, DataType::uint8)).cycles, 130u);
  EXPECT_EQ(vector_work(target, "convertto", size_of(1, DataType::float32)).cycles, 40u);
  EXPECT_EQ(vector_work(target, "convertto", size_of(1)).cycles, 110u);
  const VectorWork tanh = vector_work(target, "elementtanh", size_of(2));
  EXPECT_EQ(tanh.cycles, 10u);
  EXPECT_TRUE(tanh.on_hmx);
  VectorSize image = size_of(2);
  image.image = true;
  EXPECT_FALSE(vector_work(target, "elementtanh", image).on_hmx);
  VectorSize bytes = size_of(1, DataType::uint8);
  EXPECT_EQ(vector_work(target, "aicconvertfromd32", bytes).cycles, 150u);
  bytes.image = true;
  EXPECT_EQ(vector_work(target, "aicconvertfromd32", bytes).cycles, 70u);
  VectorSize heads = size_of(4);
  heads.rows = 64;
  EXPECT_EQ(vector_work(target, "aicsoftmax", heads).cycles, 64u * 50 / 4);
  EXPECT_EQ(vector_work(target, "aicsoftmax", heads.part(0.25)).cycles, 16u * 50);
}

// Cloud AI 100: all threads share everything.
TEST(VectorWork, WithoutTilesIsOfTheWholeGroup) {
  const Target target = aic100();
  const VectorWork work = vector_work(target, "elementadd", size_of(64));
  EXPECT_EQ(work.threads, 0u);
  EXPECT_EQ(work.cycles, vector_cycles(target, "elementadd", 64 * 1024));
}

}  // namespace
}  // namespace npuscope::npu::nsp::vector_work_test
