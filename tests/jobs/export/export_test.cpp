// Profiles as CSV, JSON and SQLite: whole files, read back by other programs.
#include "jobs/export/export.hpp"

#include <gmock/gmock.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/profile_builder.hpp"
#include "jobs/export/convert.hpp"
#include "npuscope/formats/chrome/write.hpp"
#include "npuscope/formats/perfetto/write.hpp"
#include "number_meaning.hpp"

namespace npuscope::jobs::export_test {
namespace {

namespace fs = std::filesystem;
using npuscope::test_support::ProfileBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Export : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("npuscope-export-{}", ::getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string read(const fs::path& path) {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  fs::path folder_;
};

Profile sample() {
  ProfileBuilder made("cycles", ClockKind::unit_cycles);
  Profile& profile = made.profile;
  profile.provenance.files = {"a.json.gz"};
  const UnitId core = made.unit("Core 0", Engine::core);
  const UnitId hvx = made.unit("HVX", Engine::hvx, core);
  made.span(hvx, "=HYPERLINK(\"x\")", 5, 9, SpanKind::op, "say \"hi\", twice");
  made.span(UnitId::none, "", 9, 10, SpanKind::sync);
  profile.spans.processor_cycles = {7, -1};
  profile.spans.measures.push_back({made.text("-path"),
                                    MeasureKind::dominant_path,
                                    Origin::derived,
                                    test_support::meaning_of(MeasureKind::dominant_path, "-path"),
                                    ClockId{},
                                    {MeasureColumn::missing, 3}});
  auto& arguments = profile.spans.arguments;
  arguments.shapes.push_back({{made.text("n"), ArgumentType::unsigned_integer},
                              {made.text("ok"), ArgumentType::boolean},
                              {made.text("list"), ArgumentType::json}});
  arguments.add(0, 1,
                std::array<std::uint64_t, 3>{std::numeric_limits<std::uint64_t>::max(), 1,
                                             index_of(made.text("[1,\"a\"]"))});
  arguments.resize(2);
  Measure measure;
  measure.subject = Measure::Subject::unit;
  measure.subject_id = index_of(hvx);
  measure.what = made.text("wait");
  measure.kind = MeasureKind::work;
  measure.value = 2.5;
  measure.meaning = test_support::meaning_of(measure.kind, profile.text(measure.what));
  profile.measures.push_back(measure);
  profile.notes.push_back({Severity::warning, "a.json.gz", 12, "odd\nline", 2});
  return std::move(made.profile);
}

TEST_F(Export, CsvOfSpansHasNamesAndNoFormulas) {
  const auto exported = write_csv(sample(), folder_ / "spans.csv");
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_EQ(
      read(folder_ / "spans.csv"),
      "id,unit,op,kind,start,duration,processor_cycles,unit_path,op_name,op_kind,node,\"'-path\","
      "arg n,arg ok,arg list\n"
      "0,1,0,op,5,4,7,Core 0 > HVX 0,\"'=HYPERLINK(\"\"x\"\")\",\"say \"\"hi\"\", twice\",,,"
      "18446744073709551615,true,\"[1,\"\"a\"\"]\"\n"
      "1,,,sync,9,1,,,,,,3,,,\n");
  EXPECT_THAT(exported->losses.entries,
              ElementsAre(Loss{"rows of notes (name a folder to get every table)", 1},
                          Loss{"rows of measures (name a folder to get every table)", 1}));
}

TEST_F(Export, CsvIntoAFolderHasEveryTableThatHasRows) {
  const auto exported = write_csv(sample(), folder_ / "tables" / "");
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_THAT(exported->losses.entries, IsEmpty());
  std::vector<std::string> names;
  for (const auto& file : fs::directory_iterator(folder_ / "tables")) {
    names.push_back(file.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  EXPECT_THAT(names, ElementsAre("clocks.csv", "files.csv", "measures.csv", "notes.csv", "ops.csv",
                                 "profile.csv", "spans.csv", "units.csv"));
  EXPECT_EQ(read(folder_ / "tables" / "measures.csv"),
            "subject,subject_id,inference,name,kind,origin,clock,value,quantity,role,statistic,"
            "additive,subject_name,clock_name\n"
            "unit,1,,wait,work,measured,0,2.5,time,,,1,Core 0 > HVX 0,cycles\n");
  EXPECT_EQ(read(folder_ / "tables" / "notes.csv"),
            "severity,file,offset,count,message\n"
            "warning,a.json.gz,12,2,\"odd\nline\"\n");
}

TEST_F(Export, JsonHasEveryTableInColumns) {
  const auto exported = write_json(sample(), folder_ / "p.json");
  ASSERT_TRUE(exported) << exported.error().message;
  const auto json = nlohmann::json::parse(read(folder_ / "p.json"));
  EXPECT_EQ(json["npuscope_profile"], 2);
  EXPECT_EQ(json["clocks"]["hertz"][0], nullptr);
  EXPECT_EQ(json["units"]["parent"], nlohmann::json::parse("[null, 0]"));
  EXPECT_EQ(json["ops"]["kind"][0], "say \"hi\", twice");
  EXPECT_EQ(json["spans"]["op"], nlohmann::json::parse("[0, null]"));
  EXPECT_EQ(json["spans"]["processor_cycles"], nlohmann::json::parse("[7, null]"));
  EXPECT_EQ(json["spans"]["arguments"]["shapes"][1][2],
            nlohmann::json::parse(R"(["list","json"])"));
  EXPECT_EQ(json["spans"]["arguments"]["values"][0],
            nlohmann::json::parse(R"([18446744073709551615, true, [1, "a"]])"));
  EXPECT_EQ(json["spans"]["measures"][0]["values"], nlohmann::json::parse("[null, 3]"));
  EXPECT_EQ(json["measures"]["value"][0], 2.5);
  EXPECT_EQ(json["notes"]["message"][0], "odd\nline");
}

Profile nested_phases() {
  ProfileBuilder made("cycles", ClockKind::unit_cycles);
  for (const char* name : {"Execute", "Graph", "After"}) made.phase(name, 0, 0, 10);
  made.profile.phases[0].parent = 1;
  made.profile.phases[1].parent = outermost_phase;
  return std::move(made.profile);
}

// The rows of a query, cells joined by "|".
std::vector<std::string> query(const fs::path& path, const std::string& sql) {
  std::vector<std::string> rows;
  sqlite3* database = nullptr;
  sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
  const auto take = [](void* out, int cells, char** values, char**) {
    std::string row;
    for (int i = 0; i < cells; ++i) {
      row += (i > 0 ? "|" : "") + std::string(values[i] != nullptr ? values[i] : "NULL");
    }
    static_cast<std::vector<std::string>*>(out)->push_back(row);
    return 0;
  };
  char* error = nullptr;
  if (sqlite3_exec(database, sql.c_str(), take, &rows, &error) != SQLITE_OK) {
    ADD_FAILURE() << error;
  }
  sqlite3_close(database);
  return rows;
}

TEST_F(Export, SqliteHasEveryTableAndViewsWithNames) {
  const fs::path path = folder_ / "p.db";
  const auto exported = write_sqlite(sample(), path);
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_THAT(query(path,
                    "SELECT unit, op, kind, start, duration, processor_cycles, inference "
                    "FROM named_spans ORDER BY id"),
              ElementsAre("Core 0 > HVX 0|=HYPERLINK(\"x\")|op|5|4|7|NULL",
                          "NULL|NULL|sync|9|1|NULL|NULL"));
  EXPECT_THAT(query(path, "SELECT span, name, type, value FROM span_arguments"),
              ElementsAre("0|n|unsigned_integer|18446744073709551615", "0|ok|boolean|1",
                          "0|list|json|[1,\"a\"]"));
  EXPECT_THAT(query(path, "SELECT span, name, kind, origin, value FROM span_measures"),
              ElementsAre("1|-path|dominant_path|derived|3"));
  EXPECT_THAT(query(path, "SELECT subject, subject_id, name, value FROM measures"),
              ElementsAre("unit|1|wait|2.5"));
  EXPECT_THAT(query(path, "SELECT name FROM clocks WHERE is_base AND hertz IS NULL"),
              ElementsAre("cycles"));
  EXPECT_THAT(query(path, "PRAGMA integrity_check"), ElementsAre("ok"));
}

TEST_F(Export, SqliteHasTheRowsBehindThoseOfWholeSteps) {
  ProfileBuilder made;
  const UnitId unit = made.unit("HVX 0", Engine::hvx);
  for (std::int64_t i = 0; i < 35; ++i) made.span(unit, "op", 10 * i, 10 * i + i + 3);
  ASSERT_TRUE(write_sqlite(made.profile, folder_ / "p.db"));
  EXPECT_THAT(query(folder_ / "p.db",
                    "SELECT count(*), max(id), sum(start), sum(duration), max(start) FROM spans"),
              ElementsAre("35|34|5950|700|340"));
}

TEST_F(Export, APhaseSaysWhatItIsPartOf) {
  ASSERT_TRUE(write_csv(nested_phases(), folder_ / "tables" / ""));
  EXPECT_EQ(read(folder_ / "tables" / "phases.csv"),
            "id,name,inference,unit,start,duration,microseconds,parent\n"
            "0,Execute,0,,0,10,,1\n1,Graph,0,,0,10,,-1\n2,After,0,,0,10,,\n");
  ASSERT_TRUE(write_json(nested_phases(), folder_ / "p.json"));
  EXPECT_EQ(nlohmann::json::parse(read(folder_ / "p.json"))["phases"]["parent"],
            nlohmann::json::parse("[1, -1, null]"));
  ASSERT_TRUE(write_sqlite(nested_phases(), folder_ / "p.db"));
  EXPECT_THAT(query(folder_ / "p.db", "SELECT parent FROM phases ORDER BY id"),
              ElementsAre("1", "-1", "NULL"));
}

TEST_F(Export, WhatIsNotKnownIsNullInSqliteAndNamesAreUtf8) {
  Profile profile = sample();
  profile.provenance.files = {"a\xff.json"};
  profile.notes[0].file = "a\xff.json";
  ASSERT_TRUE(write_sqlite(profile, folder_ / "p.db"));
  EXPECT_THAT(
      query(folder_ / "p.db",
            "SELECT node, shape, process_id FROM ops, units WHERE ops.id = 0 AND units.id = 0"),
      ElementsAre("NULL|NULL|NULL"));
  EXPECT_THAT(query(folder_ / "p.db", "SELECT value FROM profile WHERE name = 'device'"),
              ElementsAre("NULL"));
  EXPECT_THAT(query(folder_ / "p.db", "SELECT name FROM files UNION ALL SELECT file FROM notes"),
              ElementsAre("a\uFFFD.json", "a\uFFFD.json"));
  ASSERT_TRUE(write_csv(profile, folder_ / "tables" / ""));
  EXPECT_THAT(read(folder_ / "tables" / "notes.csv"), HasSubstr("warning,a\uFFFD.json,12"));
}

TEST_F(Export, AnUnknownCountOfInferencesIsNullInSqlite) {
  ASSERT_TRUE(write_sqlite(Profile{}, folder_ / "p.db"));
  EXPECT_THAT(query(folder_ / "p.db", "SELECT value FROM profile WHERE name = 'inferences'"),
              ElementsAre("NULL"));
}

TEST_F(Export, AnEmptyProfileGivesEmptyTables) {
  const Profile empty;
  ASSERT_TRUE(write_csv(empty, folder_ / "p.csv"));
  ASSERT_TRUE(write_json(empty, folder_ / "p.json"));
  ASSERT_TRUE(write_sqlite(empty, folder_ / "p.db"));
  EXPECT_TRUE(nlohmann::json::accept(read(folder_ / "p.json")));
  EXPECT_THAT(query(folder_ / "p.db", "SELECT count(*) FROM spans"), ElementsAre("0"));
}

TEST_F(Export, SaysHowFarItHasCome) {
  Profile profile;
  for (int i = 0; i < 10'000; ++i) {
    profile.spans.add(UnitId::none, OpId::none, SpanKind::op, i, 1);
  }
  for (const auto& write : {write_csv, write_json, write_sqlite}) {
    std::uint64_t reports = 0, last = 0;
    const auto exported = write(profile, folder_ / "p.out", [&](auto done, auto total) {
      reports += 1;
      EXPECT_LT(last, done);
      EXPECT_LE(last = done, total);
      EXPECT_GE(total, 10'000u);
    });
    EXPECT_TRUE(exported);
    EXPECT_GE(reports, 2u);
    EXPECT_GE(last, 8'000u);
  }
}

TEST_F(Export, WhatCannotBeWrittenLeavesNothingBehind) {
  for (const auto& write : {write_csv, write_json, write_sqlite}) {
    const auto exported = write(sample(), folder_ / "missing" / "p.out", {});
    ASSERT_FALSE(exported);
    EXPECT_EQ(exported.error().kind, ErrorKind::output);
  }
  const auto device = write_sqlite(sample(), "/dev/null");
  ASSERT_FALSE(device);
  EXPECT_THAT(device.error().message, HasSubstr("cannot be written to a pipe or device"));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(Export, SeveralProfilesTakeAFolderAndNamesOfTheirOwn) {
  const Profile profiles[] = {sample(), sample()};
  const auto refused = convert(profiles, {Target::chrome, folder_ / "one.json", {}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("2 profiles were read"));
  const auto done = convert(profiles, {Target::sqlite, folder_ / "out" / "", {}});
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_EQ(done->files.size(), 2u);
  EXPECT_EQ(done->files[0].path, folder_ / "out" / "a.db");
  EXPECT_EQ(done->files[1].path, folder_ / "out" / "a-2.db");
  EXPECT_EQ(done->files[0].bytes, fs::file_size(folder_ / "out" / "a.db"));
}

TEST_F(Export, WhatIsNotHeldIsListedWithCounts) {
  report::Converted converted;
  converted.files = {{"out\x1b.json", 2'048}};
  converted.losses.add("tensors", 1'234);
  EXPECT_EQ(report::converted_text(converted),
            "wrote out\\x1b.json (2.000 KiB)\n\nnot held, or not as it was:\n         1,234  "
            "tensors\n");
  const auto json =
      nlohmann::json::parse(report::converted_json(converted, {}, {"1ms", "", "", "MatMul"}));
  EXPECT_EQ(json["not_held"][0]["count"], 1'234);
  EXPECT_EQ(json["selection"], "from 1ms, ops matching 'MatMul'");
  EXPECT_EQ(nlohmann::json::parse(report::converted_json(converted, {}, {}))["selection"], nullptr);
}

// "dma_wait MatMul" in one format, "dma wait MatMul" in the other.
TEST(TraceNames, OfWaitsDifferedBetweenFormats) {
  ProfileBuilder made;
  const UnitId unit = made.unit("HVX 0", Engine::hvx);
  made.span(unit, "MatMul", 0, 1, SpanKind::sync);
  made.span(unit, "MatMul", 1, 2, SpanKind::barrier);
  made.span(unit, "MatMul", 2, 3, SpanKind::dma_wait);
  std::string json, protobuf;
  chrome::write_trace(made.profile, [&](std::string_view piece) { json += piece; });
  const Profile* const profiles[] = {&made.profile};
  perfetto::write_trace(profiles, [&](std::string_view piece) { protobuf += piece; });
  for (const char* name : {"sync MatMul", "barrier MatMul", "dma wait MatMul"}) {
    EXPECT_THAT(json, HasSubstr(fmt::format("\"name\":\"{}\"", name)));
    EXPECT_THAT(protobuf, HasSubstr(name));
  }
}

TEST(Targets, AreKnownByNameAndByEnding) {
  EXPECT_EQ(target_named("perfetto"), Target::perfetto);
  EXPECT_EQ(target_named("12ms"), std::nullopt);
  EXPECT_EQ(target_of("a.pftrace"), Target::perfetto);
  EXPECT_EQ(target_of("a.db"), Target::sqlite);
  EXPECT_EQ(target_of("a.json"), std::nullopt);
}

}  // namespace
}  // namespace npuscope::jobs::export_test
