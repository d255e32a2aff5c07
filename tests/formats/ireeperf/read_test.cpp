#include "formats/ireeperf/read.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "formats/ireeperf/dispatch_name.hpp"

namespace npuscope::ireeperf::test {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

// A record as iree-profile writes it, with what a test says.
std::string record(const std::string& type, const json& more) {
  json of = {{"schema_version", 15}, {"record_type", type}, {"source_record_index", 1}};
  of.update(more);
  return of.dump() + "\n";
}
const std::string head =
    record("schema", {{"format", "ireeperf-jsonl"}, {"source_format", "ireeprof"}}) +
    record("session", {{"event", "begin"}, {"session_status", "OK"}});
const std::string end_of_session = record("session", {{"event", "end"}, {"session_status", "OK"}});

struct Ran {
  std::string operation, key;
  std::int64_t submission = 0, index = 0, begin = 0, end = 0, tiles = 0, tile_ns = 0;
  bool valid = true;
};
std::string on_host(const Ran& of) {
  return record("host_execution_event", {{"physical_device_ordinal", 0},
                                         {"queue_ordinal", 0},
                                         {"stream_id", 0},
                                         {"submission_id", of.submission},
                                         {"command_buffer_id", 1},
                                         {"command_index", of.index},
                                         {"op", of.operation},
                                         {"key", of.key.empty() ? json() : json(of.key)},
                                         {"status_code", 0},
                                         {"start_host_time_ns", of.begin},
                                         {"end_host_time_ns", of.end},
                                         {"duration_ns", of.end - of.begin},
                                         {"valid", of.valid},
                                         {"tile_count", of.tiles},
                                         {"tile_duration_sum_ns", of.tile_ns}});
}
std::string on_device(const Ran& of) {
  return record("dispatch_event", {{"physical_device_ordinal", 0},
                                   {"queue_ordinal", 0},
                                   {"stream_id", 0},
                                   {"submission_id", of.submission},
                                   {"command_buffer_id", 1},
                                   {"command_index", of.index},
                                   {"executable_id", 1},
                                   {"function_ordinal", 3},
                                   {"start_tick", of.begin},
                                   {"end_tick", of.end},
                                   {"valid", of.valid}});
}
std::string correlation(std::int64_t tick, std::int64_t begin_ns, std::int64_t end_ns) {
  return record("clock_correlation", {{"physical_device_ordinal", 0},
                                      {"device_tick", tick},
                                      {"host_time_begin_ns", begin_ns},
                                      {"host_time_end_ns", end_ns}});
}

Result<Profile> try_read(const std::string& text) {
  const auto source = open_byte_source(std::string_view(text), "net.jsonl");
  return read_profile(**source);
}
Profile read(const std::string& text) {
  auto profile = try_read(text);
  EXPECT_TRUE(profile.has_value()) << (profile ? "" : profile.error().message);
  return profile ? std::move(*profile) : Profile{};
}

using Row = std::tuple<std::string, SpanKind, std::int64_t, std::int64_t, std::uint32_t>;
std::vector<Row> rows_of(const Profile& profile) {
  std::vector<Row> rows;
  const Spans& spans = profile.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    rows.emplace_back(profile.text(profile.ops[index_of(spans.op[row])].name), spans.kind[row],
                      spans.start[row], spans.duration[row], spans.instance[row]);
  }
  return rows;
}
std::vector<std::string> messages(const Profile& profile) {
  std::vector<std::string> messages;
  for (const Note& note : profile.notes) messages.push_back(note.message);
  return messages;
}
std::map<std::string, std::vector<std::int64_t>> columns(const Profile& profile) {
  std::map<std::string, std::vector<std::int64_t>> columns;
  for (const MeasureColumn& column : profile.spans.measures) {
    columns[std::string(profile.text(column.what))].assign(column.values.begin(),
                                                           column.values.end());
  }
  return columns;
}

const std::string conv = "net$async_dispatch_1_conv_4x5x6x3x3_f32";

TEST(IreeperfRead, AnExecuteEnclosesItsDispatchesAndIsAnInference) {
  const Profile profile = read(
      head +
      record("queue_event", {{"op", "execute"},
                             {"physical_device_ordinal", 0},
                             {"submission_id", 3},
                             {"host_time_ns", 400}}) +
      on_host({"alloca", "", 1, 0, 100, 120}) +
      on_host({"dispatch", conv, 3, 2, 1'100, 1'400, 8, 520}) +
      on_host({"fill", "", 3, 3, 1'450, 1'460}) + on_host({"execute", "", 3, -1, 1'000, 1'500}) +
      on_host({"dealloca", "", 4, 0, 1'600, 1'610}) +
      on_host({"execute", "", 7, -1, 2'000, 2'400}) +
      on_host({"dispatch", conv, 7, 2, 2'050, 2'300, 8, 400}) + end_of_session);
  EXPECT_THAT(rows_of(profile),
              ElementsAre(Row("alloca", SpanKind::host, 100, 20, every_instance),
                          Row("execute", SpanKind::inference, 1'000, 500, 0),
                          Row(conv, SpanKind::kernel, 1'100, 300, 0),
                          Row("fill", SpanKind::copy, 1'450, 10, 0),
                          Row("dealloca", SpanKind::host, 1'600, 10, every_instance),
                          Row("execute", SpanKind::inference, 2'000, 400, 1),
                          Row(conv, SpanKind::kernel, 2'050, 250, 1)));
  EXPECT_EQ(profile.provenance.inferences, 2u);
  constexpr std::int64_t none = MeasureColumn::missing;
  EXPECT_THAT(
      columns(profile),
      ElementsAre(
          Pair("tile time, all workers", ElementsAre(none, none, 520, none, none, none, 400)),
          Pair("tiles", ElementsAre(none, none, 8, none, none, none, 8)),
          Pair("time in the queue", ElementsAre(none, 600, none, none, none, none, none))));
  ASSERT_EQ(profile.measures.size(), 1u);
  EXPECT_EQ(profile.measures[0].value, 4 * 5 * 6 * 3 * 3);
}

TEST(IreeperfRead, AConvolutionWhoseNameAPoolHasTooIsNoted) {
  const auto read_dispatch = [](const char* name) {
    return read(head + on_host({"execute", "", 3, -1, 1'000, 1'500}) +
                on_host({"dispatch", name, 3, 2, 1'100, 1'400}) + end_of_session);
  };
  EXPECT_THAT(messages(read_dispatch("main_dispatch_0_conv_32x32x16x3x3_f32")),
              ElementsAre(HasSubstr("IREE calls pools so too")));
  EXPECT_TRUE(read_dispatch("main_dispatch_0_matmul_64x128x96_f32").notes.empty());
}

TEST(IreeperfRead, WhatADeviceTimedCountsInPlaceOfTheHosts) {
  const Profile profile =
      read(head +
           record("executable_function",
                  {{"executable_id", 1}, {"function_ordinal", 3}, {"name", conv}}) +
           on_host({"execute", "", 3, -1, 1'000, 9'000}) +
           on_host({"dispatch", conv, 3, 2, 1'100, 1'150}) +
           on_device({"dispatch", "", 3, 2, 50'100, 50'300}) + correlation(50'000, 990, 1'010) +
           correlation(51'000, 10'990, 11'010) + end_of_session);
  EXPECT_THAT(rows_of(profile), ElementsAre(Row("execute", SpanKind::inference, 1'000, 8'000, 0),
                                            Row(conv, SpanKind::annotation, 1'100, 50, 0),
                                            Row(conv, SpanKind::kernel, 2'000, 2'000, 0)));
}

TEST(IreeperfRead, TicksThatNothingPlacesAreNumbers) {
  const Profile profile = read(head + on_host({"execute", "", 3, -1, 1'000, 9'000}) +
                               on_device({"dispatch", "", 3, 2, 50'100, 50'300}) +
                               correlation(50'000, 990, 1'010) + end_of_session);
  EXPECT_EQ(profile.spans.size(), 1u);
  ASSERT_EQ(profile.measures.size(), 1u);
  EXPECT_EQ(profile.measures[0].value, 200);
  EXPECT_EQ(profile.measures[0].instance, 0u);
  EXPECT_THAT(messages(profile), Contains(HasSubstr("no two clock correlations")));
}

TEST(IreeperfRead, PoolsAreCounters) {
  const auto memory = [](const char* type, std::int64_t time, std::int64_t bytes,
                         std::int64_t pool) {
    return record("memory_event", {{"event_type", type},
                                   {"host_time_ns", time},
                                   {"pool_id", pool},
                                   {"pool_stats_available", true},
                                   {"pool_bytes_reserved", bytes}});
  };
  const Profile profile =
      read(head + memory("pool_reserve", 20, 64, 1'008'259'792) +
           memory("queue_alloca", 25, 64, 1'008'259'792) + memory("pool_release", 10, 0, 5) +
           on_host({"execute", "", 3, -1, 1, 90}) + end_of_session);
  EXPECT_THAT(profile.counters.time, ElementsAre(10, 20));
  EXPECT_THAT(profile.counters.value, ElementsAre(0, 64));
  EXPECT_EQ(profile.counters.series.size(), 2u);
}

TEST(IreeperfRead, WhatIsMissingIsSaid) {
  const std::string ran = on_host({"execute", "", 3, -1, 1, 90});
  EXPECT_THAT(messages(read(head + ran)), Contains(HasSubstr("the session has no end")));
  EXPECT_THAT(messages(read("\xef\xbb\xbf" + head + ran + end_of_session)), ElementsAre());
  EXPECT_THAT(messages(read(head + "{broken\n[1]\n" + ran + end_of_session)),
              ElementsAre("lines that are not JSON objects, left out"));
  EXPECT_THAT(
      messages(read(head + ran + record("counter_sample", {{"value", 1}}) + end_of_session)),
      ElementsAre("records of type counter_sample, not read"));
  EXPECT_THAT(messages(read(head + ran + on_host({"dispatch", conv, 3, 2, 5, 9, 0, 0, false}) +
                            end_of_session)),
              ElementsAre(HasSubstr("calls invalid")));
  EXPECT_THAT(messages(read(head + ran + on_host({"dispatch", conv, 3, 2, 9, 5}) + end_of_session)),
              ElementsAre("executions without a time, left out"));
  EXPECT_THAT(messages(read(head + ran +
                            record("session", {{"event", "end"}, {"session_status", "ABORTED"}}))),
              ElementsAre("the session ended with ABORTED"));
  const auto nothing = try_read(head + end_of_session);
  ASSERT_FALSE(nothing.has_value());
  EXPECT_THAT(nothing.error().message, HasSubstr("no record says what ran"));
  EXPECT_TRUE(looks_like(head));
  EXPECT_FALSE(looks_like("{\"record_type\":\"schema\"}"));
  EXPECT_FALSE(looks_like("{\"traceEvents\": [\n\"ireeperf-jsonl\""));
}

TEST(IreeperfRead, NamesOfDispatchesSayWhatTheyAre) {
  const auto parts = [](std::string_view name) {
    const DispatchName of = dispatch_name(name);
    return std::tuple(of.operation, of.extents, of.types, of.macs.value_or(-1));
  };
  EXPECT_EQ(parts("net$async_dispatch_2_conv_64x64x64x32x3x3_f32"),
            std::tuple("conv", "64x64x64x32x3x3", "f32", 75'497'472));
  EXPECT_EQ(parts("f_dispatch_11_matmul_like_1x1000x64_f16xf16xf32"),
            std::tuple("matmul_like", "1x1000x64", "f16xf16xf32", 64'000));
  EXPECT_EQ(parts("f_dispatch_0_batch_matmul_8xDx64x64_i8xi8xi32"),
            std::tuple("batch_matmul", "8xDx64x64", "i8xi8xi32", -1));
  EXPECT_EQ(parts("net$async_dispatch_5_softmax_1000xf32_dispatch_tensor_store"),
            std::tuple("softmax", "1000", "f32", -1));
  EXPECT_EQ(parts("net$async_dispatch_0_slow_memcpy"), std::tuple("slow_memcpy", "", "", -1));
  EXPECT_EQ(parts("f_dispatch_3_elementwise_D_f32"), std::tuple("elementwise_D_f32", "", "", -1));
  for (const char* none : {"", "dispatch_", "dispatch_3", "dispatch_x_y", "main"}) {
    EXPECT_EQ(parts(none), std::tuple("", "", "", -1)) << none;
  }
}

// The slow twin: every line by another parser, sums by op.
std::map<std::string, std::pair<int, std::int64_t>> sums_slowly(const std::string& text) {
  std::map<std::string, std::pair<int, std::int64_t>> sums;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const json line =
        json::parse(text.begin() + std::ptrdiff_t(begin), text.begin() + std::ptrdiff_t(end));
    begin = end + 1;
    if (line["record_type"] != "host_execution_event" || !line["valid"]) continue;
    auto& [count, sum] =
        sums[line["key"].is_null() ? std::string(line["op"]) : std::string(line["key"])];
    count += 1;
    sum += std::int64_t(line["duration_ns"]);
  }
  return sums;
}
std::map<std::string, std::pair<int, std::int64_t>> sums_of(const Profile& profile) {
  std::map<std::string, std::pair<int, std::int64_t>> sums;
  for (const auto& [name, kind, start, duration, instance] : rows_of(profile)) {
    sums[name].first += 1;
    sums[name].second += duration;
  }
  return sums;
}

TEST(IreeperfTwin, SumsOfRandomProfilesAreTheSame) {
  std::mt19937 random(9);
  const auto below = [&](std::uint32_t limit) { return std::int64_t(random() % limit); };
  for (int round = 0; round < 50; ++round) {
    std::string text = head;
    std::int64_t at = 1'000;
    for (std::int64_t submission = 1, count = 1 + below(9); submission <= count; ++submission) {
      const std::int64_t begin = at;
      for (std::int64_t index = 0, dispatches = below(30); index < dispatches; ++index) {
        const std::int64_t length = below(5'000);
        text += on_host({"dispatch", "d" + std::to_string(below(5)), submission, index, at,
                         at + length, below(3), below(9'000), below(9) != 0});
        at += length + below(50);
      }
      text += on_host({"execute", "", submission, -1, begin, at});
      at += below(500);
    }
    text += end_of_session;
    EXPECT_EQ(sums_of(read(text)), sums_slowly(text));
  }
}

TEST(IreeperfRead, ChangedBytesNeverDoMoreThanAnError) {
  const std::string text = head + on_host({"execute", "", 3, -1, 1, 90}) +
                           on_host({"dispatch", conv, 3, 2, 5, 9, 3, 12}) + end_of_session;
  std::mt19937 random(5);
  for (int round = 0; round < 3'000; ++round) {
    std::string changed = text;
    for (int i = 0; i < 3; ++i) changed[random() % changed.size()] = char(random());
    const auto profile = try_read(changed);
    EXPECT_TRUE(profile || !profile.error().message.empty());
  }
}

TEST(IreeperfSamples, SumsAreThoseOfTheFile) {
  const std::filesystem::path path =
      std::filesystem::path(NPUSCOPE_SHARED_DIR) / "data/iree/net.jsonl";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no shared data";
  const auto source = open_byte_source(path);
  const auto profile = read_profile(**source);
  ASSERT_TRUE(profile.has_value());
  std::int64_t executes = 0, dispatches = 0, host = 0, tile_ns = 0;
  for (const auto& [name, kind, start, duration, instance] : rows_of(*profile)) {
    (kind == SpanKind::inference ? executes
     : kind == SpanKind::kernel  ? dispatches
                                 : host) += duration;
  }
  const auto tile_times = columns(*profile)["tile time, all workers"];
  for (const std::int64_t value : tile_times) {
    if (value != MeasureColumn::missing) tile_ns += value;
  }
  EXPECT_EQ(executes, 433'133'632);
  EXPECT_EQ(dispatches, 431'370'560);
  EXPECT_EQ(host, 22'022 + 49'853);
  EXPECT_GT(tile_ns, dispatches);  // two workers
  EXPECT_EQ(profile->provenance.inferences, 10u);
}

}  // namespace
}  // namespace npuscope::ireeperf::test
