#include "jobs/torq/annotated_xlsx.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <fstream>
#include <sstream>

#include "jobs/torq/whole_workbook.hpp"
#include "npuscope/base/byte_source.hpp"

namespace npuscope::jobs::annotated_xlsx_test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view header = "dispatch_name,invocation_id,action_id,timestamp_us,event\n";

std::string torq_data(const std::string& name) { return NPUSCOPE_TEST_DATA "/torq/" + name; }

std::string contents(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class AnnotatedXlsx : public ::testing::Test {
 protected:
  AnnotatedXlsx() {
    folder_ = fs::path(::testing::TempDir()) / ("annotated_xlsx_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  ~AnnotatedXlsx() override { fs::remove_all(folder_); }

  Result<torq::Annotation> run(const std::string& log_text, const std::string& debug_path) {
    const fs::path file = folder_ / "log.csv";
    std::ofstream(file, std::ios::binary) << log_text;
    const auto source = open_byte_source(file);
    if (!source) return tl::unexpected(source.error());
    auto log = torq::read_log(**source);
    fs::remove(file);
    if (!log) return tl::unexpected(log.error());
    auto debug = torq::load_debug_info(fs::path(debug_path));
    if (!debug) return tl::unexpected(debug.error());
    debug_ = std::move(*debug);
    return torq::annotate(*log, debug_);
  }
  Result<torq::Annotation> run(const std::string& log_text) {
    return run(log_text, torq_data("debug_info"));
  }

  fs::path folder_;
  torq::DebugInfo debug_;
};

TEST_F(AnnotatedXlsx, ASpreadsheetIsAlwaysTheSame) {
  const auto annotation = run(contents(torq_data("runtime.csv")));
  ASSERT_TRUE(annotation);
  std::string bytes[2];
  for (std::string& each : bytes) {
    const auto written = write_annotated_xlsx(*annotation, folder_ / "out.xlsx");
    ASSERT_TRUE(written) << written.error().message;
    each = contents((folder_ / "out.xlsx").string());
  }
  EXPECT_EQ(bytes[0].substr(0, 4), "PK\x03\x04");
  EXPECT_EQ(bytes[0], bytes[1]);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);  // nothing left beside it
  EXPECT_FALSE(write_annotated_xlsx(*annotation, "/dev/null"));
}

// The first sheet of a workbook.
std::string sheet_of(const std::string& workbook) {
  const std::string name = "xl/worksheets/sheet1.xml";
  const auto at = workbook.find(name);
  if (at == workbook.npos) return "";
  const auto extra = static_cast<unsigned char>(workbook[at - 2]);
  std::string text(std::size_t{1} << 20, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, -MAX_WBITS), Z_OK);
  const std::string packed = workbook.substr(at + name.size() + extra);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = uInt(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = uInt(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

// What a full disk of temporary files makes of it: parts that are cut, in an archive that is not.
TEST_F(AnnotatedXlsx, WithoutAPartOfItsRowsIsNotWhole) {
  const auto annotation = run(contents(torq_data("runtime.csv")));
  ASSERT_TRUE(annotation);
  ASSERT_TRUE(write_annotated_xlsx(*annotation, folder_ / "out.xlsx"));
  const std::string workbook = contents((folder_ / "out.xlsx").string());
  const std::string sheet = sheet_of(workbook);
  const std::string_view begin = "<sheetData>";
  const std::uint64_t rows = sheet.find("</sheetData>") - sheet.find(begin) - begin.size();
  ASSERT_GT(rows, 1000u);
  EXPECT_TRUE(is_whole_workbook(as_byte_span(workbook), rows));
  EXPECT_FALSE(is_whole_workbook(as_byte_span(workbook), rows + 4096));
  EXPECT_FALSE(is_whole_workbook(as_byte_span(workbook.substr(0, workbook.size() / 2)), rows));
  EXPECT_FALSE(is_whole_workbook({}, rows));
  const auto sheet_name = workbook.find("xl/worksheets/");
  std::string changed = workbook;
  changed[sheet_name + 200] ^= 1;
  EXPECT_FALSE(is_whole_workbook(as_byte_span(changed), rows));
}

TEST_F(AnnotatedXlsx, WidthsOfASpreadsheetCountCharacters) {
  std::string widths[2];
  for (const int accents : {0, 1}) {
    fs::create_directories(folder_ / "debug");
    std::ofstream(folder_ / "debug" / "d.mlir")
        << "module {\n  func.func @d() {\n    torq_hl.host_copy %a {\"torq-action-id\" = 0 : i32} "
           "loc(\"" +
               std::string(accents ? "\\C3\\A9\\C3\\A9\\C3\\A9\\C3\\A9" : "eeee") +
               "-a-location-of-some-length\")\n  }\n}\n";
    const auto annotation =
        run(std::string(header) + "d,1,-1,5,DISPATCH_BEGIN\n", (folder_ / "debug").string());
    ASSERT_TRUE(annotation) << annotation.error().message;
    ASSERT_TRUE(write_annotated_xlsx(*annotation, folder_ / "out.xlsx"));
    const std::string sheet = sheet_of(contents((folder_ / "out.xlsx").string()));
    const auto begin = sheet.find("<cols>");
    ASSERT_NE(begin, sheet.npos);
    widths[accents] = sheet.substr(begin, sheet.find("</cols>") - begin);
  }
  EXPECT_EQ(widths[0], widths[1]);
}

}  // namespace
}  // namespace npuscope::jobs::annotated_xlsx_test
