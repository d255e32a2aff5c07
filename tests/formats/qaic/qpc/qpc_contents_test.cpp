#include "formats/qaic/qpc/qpc_contents.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "formats/qaic/damage.hpp"
#include "formats/qaic/qpc/sample_qpc.hpp"

namespace npuscope::qaic::qpc_contents_test {
namespace {

using test::multi_device_qpc;
using test::sample_qpc;
using test::text_segment;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> paths(const QpcExtraction& extraction) {
  std::vector<std::string> out;
  for (const ExtractedFile& file : extraction.files) out.push_back(file.path);
  return out;
}

std::vector<std::string> messages(const std::vector<Error>& errors) {
  std::vector<std::string> out;
  for (const Error& error : errors) out.push_back(error.message);
  return out;
}

TEST(QpcListing, ShowsNestedSegmentsWhereTheyLie) {
  const auto bytes = multi_device_qpc();
  const auto listing = list_qpc(bytes, "a.qpc");
  ASSERT_TRUE(listing) << listing.error().message;
  std::vector<std::string> found;
  for (const QpcListedSegment& segment : listing->segments) {
    found.push_back(segment.path + ": " + segment.content);
  }
  EXPECT_THAT(found, ElementsAre("QAicGraph_slice00: nested container",
                                 "QAicGraph_slice01: nested container",
                                 "mdp_meta_info: multi-device information, not read",
                                 "QAicGraph_slice00/constantsdesc.bin: sizes of constants",
                                 "QAicGraph_slice00/networkdesc.bin: network descriptor",
                                 "QAicGraph_slice00/npuscope.program.bin: npuscope program",
                                 "QAicGraph_slice01/constantsdesc.bin: sizes of constants",
                                 "QAicGraph_slice01/networkdesc.bin: network descriptor",
                                 "QAicGraph_slice01/npuscope.program.bin: npuscope program"));
  const QpcListedSegment& program = listing->segments.back();
  EXPECT_EQ(as_text(bytes).substr(program.file_offset, 8), "NPUPROGM");
  EXPECT_THAT(listing->problems, IsEmpty());
}

TEST(QpcListing, KeepsTheRestWhenANestedContainerIsBroken) {
  auto inner = sample_qpc();
  inner.resize(50);
  const auto bytes = *write_qpc({{"bad", inner, 0}, {"good", sample_qpc(), 0}});
  const auto listing = list_qpc(bytes, "a.qpc");
  ASSERT_TRUE(listing);
  EXPECT_THAT(listing->segments, SizeIs(5));
  EXPECT_THAT(messages(listing->problems), ElementsAre(HasSubstr("a.qpc/bad: has 50 bytes but")));
}

TEST(QpcExtraction, UnpacksNestedContainersIntoFolders) {
  const auto bytes = multi_device_qpc();
  const auto extraction = plan_qpc_extraction(bytes, "a.qpc", {});
  ASSERT_TRUE(extraction) << extraction.error().message;
  EXPECT_THAT(paths(*extraction),
              ElementsAre("mdp_meta_info", "QAicGraph_slice00_dir/constantsdesc.bin",
                          "QAicGraph_slice00_dir/networkdesc.bin",
                          "QAicGraph_slice00_dir/networkdesc.bin_dir/networkdesc.json",
                          "QAicGraph_slice00_dir/npuscope.program.bin",
                          "QAicGraph_slice01_dir/constantsdesc.bin",
                          "QAicGraph_slice01_dir/networkdesc.bin",
                          "QAicGraph_slice01_dir/networkdesc.bin_dir/networkdesc.json",
                          "QAicGraph_slice01_dir/npuscope.program.bin"));
  EXPECT_THAT(extraction->problems, IsEmpty());
}

TEST(QpcExtraction, TakesWhatMatchesByNameOrPath) {
  const auto bytes = multi_device_qpc();
  const auto chosen = [&](const std::vector<std::string>& globs) {
    return paths(*plan_qpc_extraction(bytes, "a.qpc", globs));
  };
  EXPECT_THAT(chosen({"mdp*"}), ElementsAre("mdp_meta_info"));
  EXPECT_THAT(chosen({"*slice01/constants*"}),
              ElementsAre("QAicGraph_slice01_dir/constantsdesc.bin"));
  EXPECT_THAT(chosen({"*slice01_dir*networkdesc.json"}),
              ElementsAre("QAicGraph_slice01_dir/networkdesc.bin_dir/networkdesc.json"));
  EXPECT_THAT(chosen({"QAicGraph_slice0[0]"}), ElementsAre("QAicGraph_slice00"))
      << "a container asked for by name comes whole";
  EXPECT_THAT(chosen({"mdp*", "*slice01/constants*"}),
              ElementsAre("mdp_meta_info", "QAicGraph_slice01_dir/constantsdesc.bin"));
  EXPECT_EQ(plan_qpc_extraction(bytes, "a.qpc", {"nothing", "*.elf"}).error().message,
            "a.qpc: no segment matches nothing, *.elf; `npuscope qpc list` shows their names");
}

TEST(QpcExtraction, NeverLeavesItsFolder) {
  for (const char* name : {"..", ".", "../x", "/etc/x", "a/b", "x\n", "\x1b[2J", "a\xff"}) {
    const auto bytes = *write_qpc({text_segment(name, "evil"), text_segment("fine", "x")});
    const auto extraction = plan_qpc_extraction(bytes, "a.qpc", {});
    ASSERT_TRUE(extraction);
    EXPECT_THAT(paths(*extraction), ElementsAre("fine")) << name;
    EXPECT_THAT(messages(extraction->problems),
                ElementsAre(HasSubstr("has a name that no file may have; it is not extracted")));
  }
}

TEST(QpcExtraction, OfNestedContainersNeverLeavesItsFolder) {
  const auto bytes = *write_qpc({{"../up", sample_qpc(), 0}});
  const auto extraction = plan_qpc_extraction(bytes, "a.qpc", {});
  ASSERT_TRUE(extraction);
  EXPECT_THAT(paths(*extraction), IsEmpty());
  EXPECT_THAT(messages(extraction->problems),
              ElementsAre("a.qpc: segment ../up has a name that no file may have; it is not "
                          "extracted"));
}

TEST(QpcExtraction, RefusesANameThatIsAlsoAFolder) {
  const auto bytes = *write_qpc({{"x", sample_qpc(), 0}, text_segment("x_dir", "a file")});
  const auto extraction = plan_qpc_extraction(bytes, "a.qpc", {});
  ASSERT_TRUE(extraction);
  EXPECT_THAT(extraction->files, SizeIs(4));
  EXPECT_THAT(messages(extraction->problems),
              ElementsAre(HasSubstr("x_dir would be both a file and a folder")));
}

TEST(QpcExtraction, TakesTheRestWhenTheDescriptorIsBroken) {
  const auto bytes = *write_qpc({text_segment("networkdesc.bin", "NWDESC")});
  const auto extraction = plan_qpc_extraction(bytes, "a.qpc", {});
  ASSERT_TRUE(extraction);
  EXPECT_THAT(paths(*extraction), ElementsAre("networkdesc.bin"));
  EXPECT_THAT(messages(extraction->problems),
              ElementsAre(HasSubstr("a.qpc/networkdesc.bin: network descriptor is broken")));
}

class QpcExtractionFolder : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string text_of(const std::string& file) const {
    std::stringstream text;
    text << std::ifstream(folder_ / file, std::ios::binary).rdbuf();
    return text.str();
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("npuscope-qpc-" + std::to_string(::getpid()));
};

TEST_F(QpcExtractionFolder, HoldsTheSegmentsBytes) {
  const auto bytes = *write_qpc({{"slice", sample_qpc(), 0}, text_segment("empty", "")});
  const auto extraction = plan_qpc_extraction(bytes, "a.qpc", {});
  const auto written = write_qpc_extraction(*extraction, folder_);
  ASSERT_TRUE(written) << written.error().message;
  const auto segments = test::sample_segments();
  EXPECT_EQ(text_of("slice_dir/networkdesc.bin"), as_text(segments[1].bytes));
  EXPECT_EQ(text_of("slice_dir/npuscope.program.bin"), as_text(segments[2].bytes));
  EXPECT_EQ(text_of("slice_dir/networkdesc.bin_dir/networkdesc.json"),
            network_descriptor_json(test::sample_descriptor()));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "empty"));
  EXPECT_EQ(text_of("empty"), "");
}

TEST_F(QpcExtractionFolder, ThatCannotBeMadeIsAnOutputError) {
  std::ofstream(folder_) << "in the way";
  const auto bytes = sample_qpc();
  const auto written = write_qpc_extraction(*plan_qpc_extraction(bytes, "a.qpc", {}), folder_);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::output);
}

TEST(QpcExtraction, OfDamagedFilesNeverLeavesItsFolder) {
  test::for_each_damaged_byte(*write_qpc({{"in", *write_qpc({text_segment("a..b", "x")}), 0}}),
                              [](const auto& bytes, std::size_t at) {
                                const auto extraction = plan_qpc_extraction(bytes, "a.qpc", {});
                                if (!extraction) return;
                                for (const ExtractedFile& file : extraction->files) {
                                  const auto place = std::filesystem::path("/folder") / file.path;
                                  EXPECT_EQ(place.lexically_normal(), place) << "byte " << at;
                                  EXPECT_TRUE(place.string().starts_with("/folder/"))
                                      << "byte " << at;
                                }
                              });
}

}  // namespace
}  // namespace npuscope::qaic::qpc_contents_test
