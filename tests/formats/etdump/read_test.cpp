#include "formats/etdump/read.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "base/flatbuffer.hpp"

namespace npuscope::etdump::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

struct Timed {
  std::string name, delegate_text;
  std::int32_t instruction = -1, delegate_number = -1;
  std::uint64_t begin = 0, end = 0;
};
struct RunOf {
  std::string name;
  std::vector<Timed> events;
};

FlatObject event_of(const Timed& timed) {
  FlatObject of = FlatObject::table();
  if (!timed.name.empty()) of.put(0, FlatObject::text(timed.name));
  of.put_int32(2, timed.instruction).put_int32(3, timed.delegate_number);
  if (!timed.delegate_text.empty()) of.put(4, FlatObject::text(timed.delegate_text));
  of.put_uint64(6, timed.begin).put_uint64(7, timed.end);
  FlatObject event = FlatObject::table();
  event.put(0, of);
  return event;
}

std::string dump_of(const std::vector<RunOf>& runs, bool has_size = true,
                    std::vector<FlatObject> more_events = {}) {
  std::vector<FlatObject> tables;
  for (const RunOf& run : runs) {
    std::vector<FlatObject> events = more_events;
    for (const Timed& timed : run.events) events.push_back(event_of(timed));
    FlatObject allocator = FlatObject::table();
    allocator.put(0, FlatObject::text("planned_memory"));
    FlatObject table = FlatObject::table();
    table.put(0, FlatObject::text(run.name)).put(2, FlatObject::tables({allocator}));
    table.put(3, FlatObject::tables(events));
    tables.push_back(table);
  }
  FlatObject dump = FlatObject::table();
  dump.put_uint32(0, 0).put(1, FlatObject::tables(tables));
  const std::string bytes = write_flatbuffer(dump, "ED00");
  const auto size = std::uint32_t(bytes.size());
  return (has_size ? std::string(reinterpret_cast<const char*>(&size), 4) : std::string()) + bytes;
}

Profile read(const std::string& bytes) {
  auto profile = read_profile({"a.etdp", bytes});
  EXPECT_TRUE(profile.has_value()) << (profile ? "" : profile.error().message);
  return profile ? std::move(*profile) : Profile{};
}

bool is_frame(SpanKind kind) { return kind == SpanKind::inference || kind == SpanKind::activation; }

// The time that each op has to itself, of all inferences: its own without that of the spans of its
// unit of which it is the shortest around them.
std::map<std::string, std::int64_t> own_times(const Profile& profile) {
  const Spans& spans = profile.spans;
  std::map<std::string, std::int64_t> own;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (is_frame(spans.kind[row])) continue;
    std::size_t around = spans.size();
    for (std::size_t other = 0; other < spans.size(); ++other) {
      const bool holds =
          other != row && !is_frame(spans.kind[other]) && spans.unit[other] == spans.unit[row] &&
          spans.start[other] <= spans.start[row] &&
          spans.start[row] + spans.duration[row] <= spans.start[other] + spans.duration[other];
      if (!holds) continue;
      if (around == spans.size() || spans.duration[other] < spans.duration[around]) around = other;
    }
    const auto name_of = [&](std::size_t of) {
      return std::string(profile.text(profile.ops[index_of(spans.op[of])].name));
    };
    own[name_of(row)] += spans.duration[row];
    if (around < spans.size()) own[name_of(around)] -= spans.duration[row];
  }
  return own;
}

RunOf inference(std::uint64_t at) {
  return {"Execute",
          {{"", "Convolution (NHWC, F32) IGEMM #1", 0, -1, at + 300, at + 800},
           {"", "Fully Connected (NC, F32) GEMM #2", 0, -1, at + 800, at + 900},
           {"DELEGATE_CALL", "", 0, -1, at + 10, at + 1'000},
           {"native_call_add.out", "", 1, -1, at + 1'020, at + 1'120},
           {"OPERATOR_CALL", "", 1, -1, at + 1'010, at + 1'130},
           {"Method::execute", "", -1, -1, at, at + 1'200}}};
}
const RunOf loading{
    "Default",
    {{"Method::init", "", 0, -1, 10, 4'000}, {"Program::load_method", "", 0, -1, 5, 4'100}}};

TEST(EtdumpRead, EachMomentOfARunCountsOnce) {
  const Profile profile = read(dump_of({loading, inference(5'000), inference(7'000)}));
  EXPECT_THAT(own_times(profile),
              ElementsAre(Pair("Convolution (NHWC, F32) IGEMM #1", 2 * 500),
                          Pair("DELEGATE_CALL#0", 2 * (990 - 600)),
                          Pair("Fully Connected (NC, F32) GEMM #2", 2 * 100),
                          Pair("OPERATOR_CALL", 2 * (120 - 100)), Pair("add.out#1", 2 * 100)));
  EXPECT_EQ(profile.provenance.inferences, 2u);
  EXPECT_EQ(profile.provenance.temperature, Provenance::Temperature::cold_then_warm);
  EXPECT_EQ(profile.flows.size(), 2u);
}

// Nothing in a dump names the method of an execute: two methods were one, without a word.
TEST(EtdumpRead, MethodsThatOneProgramHasWereMixedWithoutAWord) {
  const RunOf decode{"Execute",
                     {{"native_call_add.out", "", 0, -1, 9'020, 9'120},
                      {"OPERATOR_CALL", "", 0, -1, 9'010, 9'130},
                      {"Method::execute", "", -1, -1, 9'000, 9'200}}};
  const auto warnings_of = [](const std::vector<RunOf>& runs) {
    std::string warnings;
    for (const Note& note : read(dump_of(runs)).notes) {
      if (note.severity == Severity::warning) warnings += note.message;
    }
    return warnings;
  };
  EXPECT_THAT(warnings_of({loading, inference(5'000), inference(7'000), decode}),
              HasSubstr("executes of 2 kinds, by the instructions that they call"));
  EXPECT_EQ(warnings_of({loading, inference(5'000), inference(7'000)}), "");
}

TEST(EtdumpRead, LoadingIsNoInferenceAndNoWork) {
  const Profile profile = read(dump_of({loading, inference(5'000)}));
  std::map<std::string, std::pair<SpanKind, std::uint32_t>> kinds;
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    kinds[std::string(profile.text(profile.ops[index_of(profile.spans.op[row])].name))] = {
        profile.spans.kind[row], profile.spans.instance[row]};
  }
  EXPECT_EQ(kinds["Program::load_method"], std::pair(SpanKind::activation, every_instance));
  EXPECT_EQ(kinds["Method::execute"], std::pair(SpanKind::inference, 0u));
  EXPECT_EQ(kinds["add.out#1"], std::pair(SpanKind::host, 0u));
  EXPECT_EQ(kinds["DELEGATE_CALL#0"], std::pair(SpanKind::kernel, 0u));
}

TEST(EtdumpRead, NumbersAndNamesOfDelegatesTellOpsApart) {
  const Profile profile = read(dump_of({{"Execute",
                                         {{"", "", 0, 7, 20, 30},
                                          {"DELEGATE_CALL", "", 0, -1, 10, 40},
                                          {"", "", 3, 7, 50, 90},
                                          {"DELEGATE_CALL", "", 3, -1, 45, 95},
                                          {"Method::execute", "", -1, -1, 0, 100}}}}));
  EXPECT_THAT(own_times(profile),
              ElementsAre(Pair("DELEGATE_CALL#0", 20), Pair("DELEGATE_CALL#3", 10),
                          Pair("delegate op 7 (call 0)", 10), Pair("delegate op 7 (call 3)", 40)));
}

TEST(EtdumpRead, ADelegatesOwnClockIsNotTheHosts) {
  const Profile profile = read(dump_of({{"Execute",
                                         {{"", "Conv_0", 0, -1, 900'000, 912'345},
                                          {"DELEGATE_CALL", "", 0, -1, 10, 40},
                                          {"Method::execute", "", -1, -1, 0, 100}}}}));
  EXPECT_EQ(profile.spans.size(), 2u);
  ASSERT_EQ(profile.measures.size(), 1u);
  EXPECT_EQ(profile.measures[0].value, 12'345);
  EXPECT_EQ(profile.measures[0].instance, 0u);
  EXPECT_EQ(profile.clocks[index_of(profile.measures[0].clock)].kind, ClockKind::unit_cycles);
}

TEST(EtdumpRead, EventsLaidEndToEndAreSaidToBe) {
  const auto said = [](std::uint64_t second_begin) {
    const Profile profile = read(dump_of({{"Execute",
                                           {{"", "a #1", 0, -1, 2'000, 4'000},
                                            {"", "b #2", 0, -1, second_begin, second_begin + 3'000},
                                            {"DELEGATE_CALL", "", 0, -1, 1'000, 9'000},
                                            {"Method::execute", "", -1, -1, 0, 9'500}}}}));
    return std::ranges::any_of(profile.notes, [](const Note& note) {
      return note.message.find("laid end to end") != note.message.npos;
    });
  };
  EXPECT_TRUE(said(4'000));
  EXPECT_FALSE(said(4'100));
}

TEST(EtdumpRead, AllocationsAndValuesAreNumbersAndNotes) {
  FlatObject allocation = FlatObject::table(), allocated = FlatObject::table();
  allocated.put_int32(0, 0).put_uint64(1, 4'096);
  allocation.put(1, allocated);
  FlatObject value = FlatObject::table();
  value.put(2, FlatObject::table());
  const Profile profile = read(dump_of({inference(0)}, true, {allocation, allocation, value}));
  ASSERT_EQ(profile.measures.size(), 1u);
  EXPECT_EQ(profile.text(profile.measures[0].what), "allocated from planned_memory");
  EXPECT_EQ(profile.measures[0].value, 8'192);
  std::vector<std::string> messages;
  for (const Note& note : profile.notes) messages.push_back(note.message);
  EXPECT_THAT(messages, Contains(HasSubstr("values of tensors")));
}

TEST(EtdumpRead, TheSizeInFrontMayBeMissing) {
  const std::string sized = dump_of({inference(0)}), bare = dump_of({inference(0)}, false);
  EXPECT_TRUE(looks_like(sized) && looks_like(bare));
  EXPECT_FALSE(looks_like("") || looks_like("ED00") || looks_like("abcdefghijkl"));
  EXPECT_EQ(own_times(read(sized)), own_times(read(bare)));
}

TEST(EtdumpRead, BackwardAndFarTimesAreLeftOut) {
  const Profile profile = read(dump_of({{"Execute",
                                         {{"native_call_a.out", "", 0, -1, 50, 20},
                                          {"native_call_b.out", "", 1, -1, 50, ~std::uint64_t{0}},
                                          {"Method::execute", "", -1, -1, 0, 100}}}}));
  EXPECT_EQ(profile.spans.size(), 1u);
  std::uint64_t errors = 0;
  for (const Note& note : profile.notes)
    errors += note.severity == Severity::error ? note.count : 0;
  EXPECT_EQ(errors, 2u);
}

TEST(EtdumpRead, CutAndChangedBytesNeverDoMore) {
  const std::string bytes = dump_of({loading, inference(5'000)});
  const std::size_t whole = read(bytes).spans.size();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto profile = read_profile({"a.etdp", std::string_view(bytes).substr(0, length)});
    EXPECT_LE(profile ? profile->spans.size() : 0, whole);
    if (profile || length < 16) continue;  // an advice to record again was for one that recorded
    EXPECT_THAT(profile.error().message, HasSubstr("cut off or broken at byte")) << length;
  }
  std::mt19937 random(7);
  for (int round = 0; round < 3'000; ++round) {
    std::string changed = bytes;
    for (int i = 0; i < 3; ++i) changed[random() % changed.size()] = char(random());
    const auto profile = read_profile({"a.etdp", changed});
    EXPECT_TRUE(profile || !profile.error().message.empty());
  }
}

// The slow twin: an instant at a time, whose innermost event of the run is the one that works.
TEST(EtdumpTwin, InnermostEventsOwnTheirMoments) {
  std::mt19937 random(3);
  const auto below = [&](std::uint32_t limit) { return std::uint64_t(random() % limit); };
  for (int round = 0; round < 100; ++round) {
    RunOf run{"Execute", {}};
    std::uint64_t at = 3;
    for (std::int32_t i = 0, count = std::int32_t(1 + below(6)); i < count; ++i) {
      const std::uint64_t begin = at + below(4);
      std::uint64_t end = begin + 1 + below(5);
      const bool is_delegated = below(2) == 0;
      for (std::uint64_t inner = below(4), k = 0; k < inner && is_delegated; ++k) {
        const std::uint64_t length = 1 + below(9);
        run.events.push_back({"", "op" + std::to_string(k), i, -1, end, end + length});
        end += length;
      }
      if (!is_delegated) {
        run.events.push_back({"native_call_k.out", "", i, -1, begin + 1, end + 1});
        end += 2;
      }
      run.events.push_back(
          {is_delegated ? "DELEGATE_CALL" : "OPERATOR_CALL", "", i, -1, begin, end});
      at = end;
    }
    std::map<std::uint64_t, std::uint64_t> moments;  // by length of the innermost event
    std::uint64_t expected = 0;
    for (std::uint64_t t = 0; t < at; ++t) {
      bool covered = false;
      for (const Timed& event : run.events)
        covered = covered || (event.begin <= t && t < event.end);
      expected += covered ? 1 : 0;
    }
    run.events.push_back({"Method::execute", "", -1, -1, 0, at + 2});
    std::int64_t sum = 0;
    for (const auto& [name, own] : own_times(read(dump_of({run})))) sum += own;
    EXPECT_EQ(std::uint64_t(sum), expected);
  }
}

TEST(EtdumpSamples, RowsAddUpToTheRun) {
  const std::filesystem::path folder =
      std::filesystem::path(NPUSCOPE_SHARED_DIR) / "data/executorch";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no shared data";
  const auto profile_of = [&](const char* name) {
    std::ifstream file(folder / name, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    return read(bytes);
  };
  const Profile docs = profile_of("etdump.etdp"), portable = profile_of("portable.etdp");
  const auto executes = [](const Profile& profile) {
    std::vector<std::int64_t> durations;
    for (std::size_t row = 0; row < profile.spans.size(); ++row) {
      if (profile.spans.kind[row] != SpanKind::inference) continue;
      durations.push_back(profile.spans.duration[row]);
    }
    return durations;
  };
  EXPECT_THAT(executes(docs), ElementsAre(1'898'821));
  EXPECT_THAT(executes(portable), ElementsAre(436'241'751, 414'728'992, 375'996'483));
  EXPECT_EQ(own_times(docs)["convolution.out#3"], 1'031'719);
  EXPECT_EQ(own_times(docs)["OPERATOR_CALL"],
            546'816 + 8'855 + 51'197 + 1'032'230 + 1'152 + 14'291 + 154'003 + 41'973 + 351 +
                33'281 + 7'351 + 260 + 3'475 + 841 -
                (544'783 + 8'394 + 50'326 + 1'031'719 + 971 + 14'081 + 153'501 + 40'962 + 151 +
                 32'911 + 7'191 + 100 + 3'305 + 691));
}

}  // namespace
}  // namespace npuscope::etdump::test
