// The HTML file: its JSON is what the commands print, and nothing in it is markup that was a name.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "analysis/profile_builder.hpp"
#include "base/unpacked_text.hpp"
#include "npuscope/formats/open.hpp"
#include "report/document/document.hpp"
#include "report/forged_profile.hpp"
#include "report/html/report_page.hpp"
#include "report/show/show.hpp"
#include "report/units/units_document.hpp"

namespace npuscope::report::report_page_test {
namespace {

using analysis::Analysis;
using nlohmann::json;
using test_support::ProfileBuilder;
using testing::HasSubstr;
using testing::Not;

json json_in(const std::string& html) {
  return json::parse(test_support::unpacked_text(test_support::script_of(html, "npuscope-report")));
}

ReportPage page_of(const Profile& profile) {
  ReportPage page({.arguments = {"npuscope", "report", "x"}});
  page.add(Analysis(profile), {});
  return page;
}

ProfileBuilder small_profile() {
  ProfileBuilder made;
  const UnitId hmx = made.unit("HMX", Engine::hmx), dma = made.unit("DMA", Engine::dma);
  made.span(dma, "load", 0, 40, SpanKind::transfer);
  made.span(hmx, "MatMul_0", 40, 100, SpanKind::op, "conv");
  made.span(hmx, "MatMul_1", 110, 150, SpanKind::op, "conv");
  made.profile.edges.push_back({made.op("load"), made.op("MatMul_0", "conv"), EdgeKind::data});
  return made;
}

TEST(ReportPage, PagesAreWhatTheCommandsPrint) {
  const ProfileBuilder made = small_profile();
  const json report = json_in(page_of(made.profile).html());
  EXPECT_EQ(report["command"], "report");
  EXPECT_EQ(report["arguments"], json({"npuscope", "report", "x"}));
  const json& pages = report["profiles"][0]["pages"];
  const Analysis analysis(made.profile);
  for (const auto& [key, document] : {std::pair{"show", show_document(analysis, {.top = 0})},
                                      std::pair{"units", units_document(analysis, {.top = 0})}}) {
    const json printed = json::parse(documents_json({&*document, 1}, {}))["profiles"][0];
    for (const auto& [name, section] : pages[key]["values"].items()) {
      EXPECT_EQ(section, printed[name]) << key << ": " << name;
    }
    for (const json& layout : pages[key]["layout"]) {
      EXPECT_TRUE(pages[key]["values"].contains(layout["key"])) << layout["key"];
    }
  }
  const std::string text = page_of(made.profile).json();
  EXPECT_EQ(json::parse(text)["profiles"], report["profiles"]);
  EXPECT_EQ(nlohmann::ordered_json::parse(text).dump(2) + "\n", text);
}

TEST(ReportPage, NamesAreNeverMarkup) {
  ProfileBuilder made;
  const UnitId unit = made.unit("</script><img src=x onerror=alert(1)>", Engine::hmx);
  made.span(unit, "<!--</script><script>alert(2)</script>", 0, 10);
  made.span(unit, std::string("bad utf8 \xff\xfe\x80 \x01"), 10, 20);
  const std::string html = page_of(made.profile).html();
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
  const json report = json_in(html);
  EXPECT_THAT(report["profiles"][0]["pages"]["ops_op"].dump(), HasSubstr("alert(2)"));
}

TEST(ReportPage, AForgedProfileGivesAPage) {
  const Profile forged = test_support::forged_profile();
  for (const std::size_t max_spans : {std::size_t{1}, std::size_t{100}}) {
    ReportPage page({.arguments = {"npuscope", "report", "x"}, .limits = {.max_spans = max_spans}});
    page.add(Analysis(forged), {});
    EXPECT_TRUE(json_in(page.html())["profiles"][0]["pages"].contains("units"));
  }
}

TEST(ReportPage, OfNothingSaysWhatIsMissing) {
  const ProfileBuilder made;
  const json report = json_in(page_of(made.profile).html());
  const json& profile = report["profiles"][0];
  EXPECT_TRUE(profile["pages"].contains("show"));
  EXPECT_TRUE(profile["missing_pages"].contains("path"));
}

json head_of(const std::string& columns, std::size_t profile = 0) {
  const auto byte = [&](std::size_t i) { return std::size_t(std::uint8_t(columns.at(i))); };
  const std::size_t size = byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
  return json::parse(columns.substr(4, size))["profiles"].at(profile);
}

// Rows of an MTIA's queues stood below sixty threads of the host: a trace has both as threads.
TEST(ReportPage, AThreadThatHasADevicesWorkIsADevice) {
  ProfileBuilder made;
  made.span(made.unit("main", Engine::thread), "launch", 0, 9, SpanKind::runtime_call);
  made.span(made.unit("queue", Engine::thread), "matmul", 3, 8, SpanKind::kernel);
  made.span(made.unit("waits", Engine::thread), "matmul", 3, 8, SpanKind::sync);
  ReportPage page({.arguments = {"npuscope", "report", "x"}});
  page.add(Analysis(made.profile), {});
  std::vector<bool> is_device;
  const std::string data =
      test_support::unpacked_text(test_support::script_of(page.html(), "npuscope-data"));
  const json head = head_of(data);
  for (const json& unit : head["units"]) is_device.push_back(unit["is_device"]);
  EXPECT_THAT(is_device, testing::ElementsAre(false, true, false));
}

TEST(ReportPage, OfManySpansThereIsACoarseTimelineToo) {
  ProfileBuilder made;
  const UnitId unit = made.unit("HVX", Engine::hvx);
  for (std::int64_t i = 0; i < 3'000; ++i) {
    made.span(unit, "op " + std::to_string(i % 7), 3 * i, 3 * i + 2);
  }
  ReportRequest request{.arguments = {"npuscope", "report", "x"}, .limits = {.coarse_spans = 100}};
  ReportPage page(request);
  page.add(Analysis(made.profile), {});
  const std::string html = page.html();
  const json coarse =
      head_of(test_support::unpacked_text(test_support::script_of(html, "npuscope-coarse")));
  const json whole =
      head_of(test_support::unpacked_text(test_support::script_of(html, "npuscope-data")));
  EXPECT_EQ(coarse["coarse"], true);
  EXPECT_FALSE(whole.contains("coarse"));
  const auto rows = [](const json& head, const std::string& column) {
    for (const json& each : head["columns"]) {
      if (each["name"] == column) return each["count"].get<int>();
    }
    return -1;
  };
  EXPECT_EQ(rows(whole, "span.start"), 3'000);
  EXPECT_LE(rows(coarse, "span.start"), 100);
  EXPECT_GT(rows(coarse, "span.start"), 20);
  EXPECT_EQ(rows(coarse, "op.row_kind"), rows(whole, "op.row_kind"));
  EXPECT_EQ(rows(coarse, "step.start"), -1);
  for (const char* same : {"begin", "length", "timeline_begin", "timeline_length", "kinds"}) {
    EXPECT_EQ(coarse[same], whole[same]) << same;
  }
  EXPECT_EQ(test_support::script_of(page_of(small_profile().profile).html(), "npuscope-coarse"),
            "");
}

TEST(ReportPage, ACoarseTimelineHasTheProfilesBeforeTheLargeOneToo) {
  ProfileBuilder small = small_profile();
  ProfileBuilder large;
  const UnitId unit = large.unit("HVX", Engine::hvx);
  for (std::int64_t i = 0; i < 600; ++i) large.span(unit, "op", 3 * i, 3 * i + 2);
  ReportPage page({.arguments = {"npuscope", "report", "x"}, .limits = {.coarse_spans = 100}});
  for (const Profile* profile : {&small.profile, &large.profile}) page.expect(*profile);
  for (const Profile* profile : {&small.profile, &large.profile}) page.add(Analysis(*profile), {});
  const std::string coarse =
      test_support::unpacked_text(test_support::script_of(page.html(), "npuscope-coarse"));
  EXPECT_EQ(head_of(coarse, 0)["span_total"], 3);
  EXPECT_EQ(head_of(coarse, 1)["span_total"], 600);
}

TEST(ReportPage, SameProfileSameBytes) {
  const ProfileBuilder made = small_profile();
  EXPECT_EQ(page_of(made.profile).html(), page_of(made.profile).html());
}

}  // namespace
}  // namespace npuscope::report::report_page_test
