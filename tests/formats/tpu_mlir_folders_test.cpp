// Folders in which tpu-mlir compiled: the files of one program are one profile.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "formats/tpu_mlir/profile_text.hpp"
#include "npuscope/formats/open.hpp"

namespace npuscope::tpu_mlir::folders_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::SizeIs;

class TpuMlirFolders : public testing::Test {
 protected:
  TpuMlirFolders()
      : folder_(fs::path(testing::TempDir()) / fmt::format("tpu_mlir_{}", ::getpid())) {
    fs::create_directories(folder_);
  }
  ~TpuMlirFolders() override { fs::remove_all(folder_); }

  void put(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::vector<Profile> open() {
    auto opened = open_profiles(std::array{folder_});
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(opened->profiles) : std::vector<Profile>();
  }

  fs::path folder_;
};

std::size_t cores_of(const Profile& profile) {
  return std::size_t(std::ranges::count(profile.units, Engine::core, &Unit::engine));
}

TEST_F(TpuMlirFolders, CoresOfOneProgramAreOneProfile) {
  const GeneratedProfile first = generate({.layers = 12, .seed = 1});
  put("compiler_profile_0.txt", first.text);
  put("compiler_profile_1.txt",
      generate({.layers = 2, .total_cycles = first.total, .seed = 1}).text);
  put("tensor_location.json", first.locations);
  put("net_final.mlir",
      "module @net attributes {module.FLOPs = 123456 : i64, module.chip = \"bm1688\"} {\n}\n");
  const std::vector<Profile> profiles = open();
  ASSERT_THAT(profiles, SizeIs(1));
  const Profile& profile = profiles[0];
  EXPECT_EQ(cores_of(profile), 2u);
  EXPECT_EQ(profile.provenance.device, "bm1688");
  EXPECT_EQ(profile.provenance.graph, "net");
  EXPECT_EQ(profile.provenance.files.size(), 4u);
}

TEST_F(TpuMlirFolders, AProfileThatAnEarlierCompileLeftIsOfItsOwn) {
  put("compiler_profile_0.txt", generate({.layers = 12, .seed = 1}).text);
  put("compiler_profile_1.txt", generate({.layers = 5, .seed = 2}).text);
  const std::vector<Profile> profiles = open();
  ASSERT_THAT(profiles, SizeIs(2));
  EXPECT_EQ(cores_of(profiles[0]), 1u);
  EXPECT_EQ(cores_of(profiles[1]), 1u);
}

TEST_F(TpuMlirFolders, LocationsAloneAreRefusedWithAdvice) {
  put("tensor_location.json", generate({}).locations);
  const auto opened = open_profiles(std::array{folder_});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("compiler_profile_0.txt"));
}

TEST_F(TpuMlirFolders, OfSamples) {
  const fs::path all = fs::path(NPUSCOPE_SHARED_DIR) / "data/tpu-mlir";
  if (!fs::exists(all)) GTEST_SKIP() << "no shared data";
  const auto two_cores = open_profiles(std::array{all / "mbnet-bm1688-BF16"});
  ASSERT_TRUE(two_cores);
  ASSERT_THAT(two_cores->profiles, SizeIs(1));
  EXPECT_EQ(cores_of(two_cores->profiles[0]), 2u);
  EXPECT_EQ(two_cores->profiles[0].spans.size(), 183u);
  const auto named = open_profiles(std::array{all / "convnet-bm1688-F16"});
  ASSERT_TRUE(named);
  const Profile& profile = named->profiles[0];
  EXPECT_EQ(profile.provenance.device, "bm1688");
  EXPECT_TRUE(std::ranges::any_of(profile.ops, [&](const Op& op) {
    return profile.text(op.name) == "Conv2D_26" && profile.text(op.node) == "relu1_Relu";
  }));
  for (const Check& check : profile.checks) EXPECT_EQ(check.outcome, Check::Outcome::passed);
}

}  // namespace
}  // namespace npuscope::tpu_mlir::folders_test
