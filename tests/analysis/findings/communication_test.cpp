// Communication that nothing hides: a late rank, or transfer; and a window that is mostly empty.
#include "analysis/findings/finding_tester.hpp"

namespace npuscope::analysis::communication_test {
namespace {

using test_support::ProfileBuilder;
using test_support::Tried;

struct Rank : ProfileBuilder {
  UnitId stream = unit("stream 2", Engine::thread);
  UnitId group = unit("group 0", Engine::thread);

  explicit Rank(std::int64_t waiting) : ProfileBuilder("trace", ClockKind::wall, 1e9) {
    profile.provenance.format = "Chrome trace";
    span(stream, "MatMul", 0, 200, SpanKind::kernel);
    span(group, "hcom_allReduce__1", 200, 1200, SpanKind::communication);
    if (waiting < 0) return;
    MeasureColumn column = profile.column_of(
        {"waiting for ranks", MeasureKind::active, NumberRole::communication_wait},
        Origin::derived);
    column.values.push_back(MeasureColumn::missing);
    column.values.push_back(waiting);
    profile.spans.measures.push_back(std::move(column));
  }
};

TEST(ExposedCommunication, ALateRankWasMemoryBound) {
  const Rank made(980);
  const Tried tried("exposed-communication", made.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.finding().title,
            "Another rank is late: waiting is 98.0 % of communication, which takes 83.3 % of the "
            "wall alone");
  EXPECT_EQ(tried.value("waiting_share_of_communication"), 0.98);
  EXPECT_EQ(tried.gain(), 980);
  for (const char* other : {"memory-bound", "exposed-dma"}) {
    EXPECT_FALSE(Tried(other, made.profile).found()) << other;
  }
}

TEST(ExposedCommunication, TransferIsNoWaiting) {
  const Tried tried("exposed-communication", Rank(100).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.finding().title, "Communication that nothing hides takes 83.3 % of the wall");
  EXPECT_EQ(tried.finding().advice.find("other ranks"), std::string::npos);
}

TEST(ExposedCommunication, WithoutPartsItSaysWhatIsUnknown) {
  const Tried tried("exposed-communication", Rank(-1).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_NE(tried.finding().advice.find("does not tell waiting"), std::string::npos);
}

TEST(ExposedCommunication, NotWhereComputeHidesIt) {
  Rank made(980);
  made.span(made.stream, "MatMul", 200, 1200, SpanKind::kernel);
  for (MeasureColumn& column : made.profile.spans.measures) {
    column.values.push_back(MeasureColumn::missing);
  }
  EXPECT_TRUE(Tried("exposed-communication", made.profile).is_quiet());
}

TEST(ExposedCommunication, NoVendorsWordsInAnothersAdvice) {
  ProfileBuilder made("trace", ClockKind::wall, 1e9);
  made.profile.provenance.format = "Chrome trace";
  const UnitId unit = made.unit("stream", Engine::thread);
  const UnitId copies = made.unit("copies", Engine::thread);
  made.span(unit, "MatMul", 0, 100, SpanKind::kernel);
  made.span(copies, "Memcpy", 100, 1000, SpanKind::copy);
  made.span(copies, "Memcpy", 1100, 2000, SpanKind::copy);
  const Diagnosis diagnosis = Analysis(made.profile).findings({});
  ASSERT_FALSE(diagnosis.findings.empty());
  for (const Finding& finding : diagnosis.findings) {
    for (const char* word : {"VTCM", "HVX", "HMX", "HTP", "burst"}) {
      EXPECT_EQ(finding.advice.find(word), std::string::npos) << finding.rule << ": " << word;
    }
  }
}

// 1.5 ms of work in 13.7 s.
ProfileBuilder mostly_empty() {
  ProfileBuilder made("trace", ClockKind::wall, 1e9);
  const UnitId unit = made.unit("stream", Engine::thread);
  made.span(unit, "first", 0, 10, SpanKind::kernel);
  for (std::int64_t i = 0; i < 100; ++i) {
    const std::int64_t at = 13'000'000'000 + i * 15'000;
    made.span(unit, "k", at, at + 10'000, SpanKind::kernel);
  }
  made.span(unit, "last", 13'700'000'000, 13'700'000'010, SpanKind::kernel);
  return made;
}

TEST(MostlyEmpty, TheWindowWasNotSaidToBeEmpty) {
  const Tried tried("mostly-empty", mostly_empty().profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.finding().title,
            "0.011 % of the wall holds 100.0 % of the work: --from 13000000.000us --to "
            "13001495.000us");
  EXPECT_EQ(tried.value("stretch"), 1'495'000);
}

TEST(MostlyEmpty, RequestsFarApartAreNoEmptyWindow) {
  ProfileBuilder made("trace", ClockKind::wall, 1e9);
  const UnitId unit = made.unit("stream", Engine::thread);
  for (std::int64_t i = 0; i < 5; ++i) made.span(unit, "k", i * 1'000, i * 1'000 + 10);
  EXPECT_TRUE(Tried("mostly-empty", made.profile).is_quiet());
}

TEST(MostlyEmpty, WithoutTimesNothingIsKnown) {
  EXPECT_EQ(Tried("mostly-empty", ProfileBuilder().profile).missing(), "a timeline of units");
}

TEST(Rules, OfTheHostAloneDoNotLackATimeline) {
  ProfileBuilder made("trace", ClockKind::wall, 1e9);
  made.span(made.unit("thread", Engine::host), "Conv", 0, 10, SpanKind::host);
  EXPECT_EQ(Tried("idle-between-inferences", made.profile).missing(),
            "work of the NPU on the timeline: all of it is the host's");
}

}  // namespace
}  // namespace npuscope::analysis::communication_test
