// The picture of docs/architecture.md, enforced: what the sources of each layer may include.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace npuscope {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::set<std::string>> may_use{
    {"base", {}},
    {"profile", {"base"}},
    {"formats/chrome", {"base", "profile"}},
    {"formats/perfetto", {"base", "profile"}},
    {"formats/qaic", {"base", "profile", "formats/chrome", "formats/perfetto"}},
    {"formats/qnn", {"base", "profile", "formats/chrome", "formats/perfetto"}},
    {"formats/torq", {"base", "profile", "formats/chrome", "formats/perfetto"}},
    {"formats/sigmastar", {"base", "profile", "formats/chrome", "formats/perfetto"}},
    {"formats",
     {"base", "profile", "formats/chrome", "formats/perfetto", "formats/qaic", "formats/qnn",
      "formats/torq", "formats/sigmastar"}},
    {"analysis", {"base", "profile"}},
    {"query", {"base", "profile", "analysis"}},
    {"npu/graph", {"base"}},
    {"npu/target", {"base"}},
    {"npu/compile",
     {"base", "formats/qaic", "formats/torq", "formats/sigmastar", "npu/graph", "npu/target"}},
    {"npu/simulate",
     {"base", "formats/qaic", "formats/qnn", "formats/torq", "formats/sigmastar", "npu/target"}},
    {"npu/models", {"base", "npu/graph"}},
    {"report",
     {"base", "profile", "formats/chrome", "formats/perfetto", "formats/qaic", "formats/qnn",
      "formats/torq", "formats/sigmastar", "formats", "analysis", "npu/graph", "npu/target",
      "npu/compile", "npu/simulate", "npu/models", "query"}},
    {"cli",
     {"base", "profile", "formats/chrome", "formats/perfetto", "formats/qaic", "formats/qnn",
      "formats/torq", "formats/sigmastar", "formats", "analysis", "npu/graph", "npu/target",
      "npu/compile", "npu/simulate", "npu/models", "query", "report"}},
};

// The layer of "formats/qaic/qpc.hpp": the innermost folder that is one.
std::optional<std::string> layer_of(const std::string& path) {
  std::optional<std::string> innermost;
  for (const auto& [layer, unused] : may_use) {  // sorted: an inner folder comes after the outer
    if (path.starts_with(layer + "/")) innermost = layer;
  }
  return innermost;
}

// The files that `file` includes with quotes, without "npuscope/".
std::vector<std::string> includes_of(const fs::path& file) {
  static const std::string start = "#include \"";
  std::vector<std::string> includes;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(start)) continue;
    const std::string name = line.substr(start.size(), line.rfind('"') - start.size());
    includes.push_back(name.starts_with("npuscope/") ? name.substr(9) : name);
  }
  return includes;
}

// One line per include that the picture does not allow.
std::vector<std::string> trespasses(const fs::path& root, int& files) {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    ++files;
    const std::string path = entry.path().lexically_relative(root).string();
    const auto layer = layer_of(path);
    if (!layer) {
      found.push_back(path + ": its layer is not in this test's table");
      continue;
    }
    for (const std::string& include : includes_of(entry.path())) {
      const auto used = layer_of(include);
      if (used && used != layer && !may_use.at(*layer).contains(*used)) {
        found.push_back(path + " includes " + include);
      }
    }
  }
  return found;
}

TEST(Layers, ATrespassIsSeen) {
  const fs::path root = fs::path(testing::TempDir()) / "npuscope-layers-test";
  fs::create_directories(root / "base");
  std::ofstream(root / "base" / "wrong.hpp")
      << "#include <vector>\n#include \"base/text.hpp\"\n#include "
         "\"npuscope/npu/graph/graph.hpp\"\n";
  int files = 0;
  const auto found = trespasses(root, files);
  fs::remove_all(root);
  EXPECT_THAT(found, testing::ElementsAre("base/wrong.hpp includes npu/graph/graph.hpp"));
}

TEST(Layers, UseOnlyThoseAboveThem) {
  int files = 0;
  EXPECT_THAT(trespasses(NPUSCOPE_SOURCE_DIR "/src", files), testing::IsEmpty());
  EXPECT_GT(files, 50);
}

TEST(Layers, PublicHeadersUseOnlyThoseAboveThem) {
  int files = 0;
  EXPECT_THAT(trespasses(NPUSCOPE_SOURCE_DIR "/include/npuscope", files), testing::IsEmpty());
  EXPECT_GT(files, 20);
}

// Public headers are installed; private ones are not, so a public one must not need them.
TEST(Layers, PublicHeadersIncludeNoPrivateOnes) {
  const fs::path root = NPUSCOPE_SOURCE_DIR "/include/npuscope";
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    for (const std::string& include : includes_of(entry.path())) {
      EXPECT_TRUE(fs::exists(root / include)) << entry.path() << " includes " << include;
    }
  }
}

}  // namespace
}  // namespace npuscope
