// The picture of docs/architecture.md, enforced: what the sources of each layer may include.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace npuscope::layers_test {
namespace {

namespace fs = std::filesystem;

struct Layer {
  std::set<std::string> needs;  // layers
  std::set<std::string> links;  // libraries
};
using Layers = std::map<std::string, Layer>;

// Of lines like "formats/chrome NEEDS profile ingest LINKS simdjson::simdjson".
Layers layers_of(std::istream&& lines) {
  Layers layers;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, word;
    words >> name;
    Layer& layer = layers[name];
    if (name != "base") layer.needs.insert("base");
    for (auto* into = &layer.needs; words >> word;) {
      if (word == "NEEDS" || word == "LINKS") {
        into = word == "NEEDS" ? &layer.needs : &layer.links;
      } else {
        into->insert(word);
      }
    }
  }
  return layers;
}

// As CMakeLists.txt has them.
const Layers& the_layers() {
  static const Layers layers = layers_of(std::ifstream(NPUSCOPE_LAYERS));
  return layers;
}

// The layer of "formats/qaic/qpc.hpp": the innermost folder that is one. Public headers of an
// architecture do not name "targets/".
std::optional<std::string> layer_of(const std::string& path) {
  std::optional<std::string> innermost;
  for (const auto& [layer, unused] :
       the_layers()) {  // sorted: an inner folder comes after the outer
    std::string outside = layer;
    if (layer.starts_with("npu/targets/")) outside.erase(4, 8);
    if (path.starts_with(layer + "/") || path.starts_with(outside + "/")) innermost = layer;
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

// What has to be linked where a header is included; by how the header's name begins.
const std::map<std::string, std::string> library_of{
    {"CLI/", "CLI11::CLI11"},
    {"libdeflate.h", "libdeflate::libdeflate"},
    {"re2/", "re2::re2"},
    {"simdjson.h", "simdjson::simdjson"},
    {"sqlite3.h", "SQLite::SQLite3"},
    {"toml++/", "tomlplusplus::tomlplusplus"},
    {"xxhash.h", "xxHash::xxhash"},
    {"zlib.h", "ZLIB::ZLIB"},
    {"zstd", "zstd::libzstd_shared"},
};
// Every layer links the first three; protozero is headers only; libcurl and libxlsxwriter are
// loaded when they are first needed; the others are of the system.
const std::set<std::string> needs_no_link{"fmt/",        "tbb/",       "tl/",         "protozero/",
                                          "curl/",       "dlfcn.h",    "sys/",        "unistd.h",
                                          "fcntl.h",     "execinfo.h", "fnmatch.h",   "emmintrin.h",
                                          "immintrin.h", "malloc.h",   "xlsxwriter.h"};

// Those of other libraries that `file` includes with angles.
std::vector<std::string> foreign_includes_of(const fs::path& file) {
  static const std::string start = "#include <";
  std::vector<std::string> includes;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(start)) continue;
    const std::string name = line.substr(start.size(), line.rfind('>') - start.size());
    if (name.find_first_of("./") != std::string::npos) includes.push_back(name);
  }
  return includes;
}

// One line per library that a layer includes and does not link. Two files that were compiled with
// and without a library's flags may have different ideas of its classes.
std::vector<std::string> missing_links(const fs::path& root, const Layers& layers = the_layers()) {
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    const std::string path = entry.path().lexically_relative(root).string();
    const auto layer = layer_of(path);
    if (!layer) continue;
    for (const std::string& include : foreign_includes_of(entry.path())) {
      const auto begins = [&](const std::string& start) { return include.starts_with(start); };
      if (std::any_of(needs_no_link.begin(), needs_no_link.end(), begins)) continue;
      const auto library =
          std::find_if(library_of.begin(), library_of.end(),
                       [&](const auto& each) { return include.starts_with(each.first); });
      if (library == library_of.end()) {
        found.insert(path + ": the library of <" + include + "> is not in this test's table");
      } else if (!layers.at(*layer).links.contains(library->second)) {
        found.insert(path + " includes <" + include + ">, but " + *layer + " does not link " +
                     library->second);
      }
    }
  }
  return {found.begin(), found.end()};
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
      found.push_back(path + ": its layer is not in CMakeLists.txt");
      continue;
    }
    for (const std::string& include : includes_of(entry.path())) {
      const auto used = layer_of(include);
      if (used && used != layer && !the_layers().at(*layer).needs.contains(*used)) {
        found.push_back(path + " includes " + include);
      }
    }
  }
  return found;
}

// What a layer may use and does not: a permission that nobody needs is one too many.
std::vector<std::string> unused_permissions(const std::vector<fs::path>& roots) {
  Layers unused = the_layers();
  for (const fs::path& root : roots) {
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      const auto layer = layer_of(entry.path().lexically_relative(root).string());
      if (!entry.is_regular_file() || !layer) continue;
      for (const std::string& include : includes_of(entry.path())) {
        if (const auto used = layer_of(include)) unused.at(*layer).needs.erase(*used);
      }
    }
  }
  std::vector<std::string> found;
  for (const auto& [layer, left] : unused) {
    for (const std::string& permission : left.needs) {
      found.push_back(layer + " uses nothing of " + permission);
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

TEST(Layers, AMissingLinkIsSeen) {
  const fs::path root = fs::path(testing::TempDir()) / "npuscope-links-test";
  fs::create_directories(root / "npu" / "targets" / "nsp" / "compile");
  std::ofstream(root / "npu" / "targets" / "nsp" / "compile" / "one.cpp")
      << "#include <vector>\n#include <zlib.h>\n"
         "#include <simdjson.h>\n#include "
         "<fmt/format.h>\n#include <new.h>\n";
  const auto found = missing_links(
      root,
      layers_of(std::istringstream("npu/targets/nsp/compile NEEDS profile LINKS ZLIB::ZLIB")));
  fs::remove_all(root);
  EXPECT_THAT(
      found,
      testing::ElementsAre(
          "npu/targets/nsp/compile/one.cpp includes <simdjson.h>, but npu/targets/nsp/compile does "
          "not link "
          "simdjson::simdjson",
          "npu/targets/nsp/compile/one.cpp: the library of <new.h> is not in this test's table"));
}

TEST(Layers, LinkTheLibrariesThatTheyInclude) {
  EXPECT_GT(the_layers().size(), 30u);
  EXPECT_THAT(missing_links(NPUSCOPE_SOURCE_DIR "/src"), testing::IsEmpty());
  EXPECT_THAT(missing_links(NPUSCOPE_SOURCE_DIR "/include/npuscope"), testing::IsEmpty());
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

TEST(Layers, HaveNoPermissionThatTheyDoNotUse) {
  EXPECT_THAT(
      unused_permissions({NPUSCOPE_SOURCE_DIR "/src", NPUSCOPE_SOURCE_DIR "/include/npuscope"}),
      testing::IsEmpty());
}

TEST(Layers, APermissionThatNobodyUsesIsSeen) {
  const fs::path root = fs::path(testing::TempDir()) / "npuscope-permissions-test";
  fs::create_directories(root / "profile");
  std::ofstream(root / "profile" / "one.hpp") << "#include <vector>\n";
  const auto found = unused_permissions({root});
  fs::remove_all(root);
  EXPECT_THAT(found, testing::Contains("profile uses nothing of base"));
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
}  // namespace npuscope::layers_test
