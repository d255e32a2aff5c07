// What of a collective is waiting for other ranks.
#include "profile/communication_waits.hpp"

#include <gmock/gmock.h>

#include "analysis/profile_builder.hpp"
#include "npuscope/profile/event_roles.hpp"

namespace npuscope::communication_waits_test {
namespace {

struct Ascend : test_support::ProfileBuilder {
  UnitId process = unit("HCCL", Engine::process);
  UnitId group = unit("Group 0 Communication", Engine::thread, process);
  UnitId plane = unit("Plane 0", Engine::thread, process);
  UnitId other = unit("Plane 1", Engine::thread, process);

  void slice(UnitId at, const char* name, std::int64_t begin, std::int64_t end) {
    span(at, name, begin, end, SpanKind::slice);
  }
  std::vector<std::int64_t> waits() {
    apply_roles(profile, {});
    const MeasureColumn* column = profile.spans.measure(NumberRole::communication_wait);
    if (column == nullptr) return {};
    return {column->values.begin(), column->values.end()};
  }
};

constexpr std::int64_t none = MeasureColumn::missing;

TEST(CommunicationWaits, ALateRankWasReportedAsDma) {
  Ascend made;
  made.slice(made.group, "hcom_allReduce__1", 200, 1200);
  made.slice(made.plane, "Notify_Wait", 200, 1180);
  made.slice(made.plane, "Memcpy", 1180, 1200);
  EXPECT_THAT(made.waits(), testing::ElementsAre(980, none, none));
  EXPECT_EQ(made.profile.spans.kind[0], SpanKind::communication);
}

// One plane waits while another transfers: the collective goes on.
TEST(CommunicationWaits, TransferOfAnotherPlaneIsNoWaiting) {
  Ascend made;
  made.slice(made.group, "hcom_allReduce__1", 0, 100);
  made.slice(made.plane, "Notify_Wait", 0, 100);
  made.slice(made.other, "Reduce_Inline", 60, 90);
  EXPECT_THAT(made.waits(), testing::ElementsAre(70, none, none));
}

TEST(CommunicationWaits, OutsideACollectiveTheyAreOfNone) {
  Ascend made;
  made.slice(made.group, "hcom_allReduce__1", 0, 100);
  made.slice(made.plane, "Notify_Wait", 90, 150);
  made.slice(made.group, "hcom_allReduce__2", 140, 200);
  EXPECT_THAT(made.waits(), testing::ElementsAre(10, none, 10));
}

TEST(CommunicationWaits, WithoutPartsNothingIsKnown) {
  Ascend made;
  made.slice(made.group, "hcom_allReduce__1", 0, 100);
  EXPECT_TRUE(made.waits().empty());
}

}  // namespace
}  // namespace npuscope::communication_waits_test
