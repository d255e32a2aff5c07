#include "analysis/units/peers.hpp"

#include <gmock/gmock.h>

#include <map>
#include <random>

namespace npuscope::analysis::peers_test {
namespace {

// Random exchanges, and beside them the sums that are to come out.
TEST(Peers, AreSummedAsByHand) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    Profile profile;
    std::map<std::pair<std::string, std::string>, PeerRow> expected;
    std::uint64_t unpaired = 0;
    profile.units.push_back({});
    const auto text = [&](const std::string& of) { return profile.strings.intern(of); };
    const auto span = [&](OpId op, SpanKind kind, std::int64_t start, std::int64_t duration,
                          std::uint32_t instance) {
      Spans& spans = profile.spans;
      spans.unit.push_back(UnitId{0});
      spans.op.push_back(op);
      spans.kind.push_back(kind);
      spans.start.push_back(start);
      spans.duration.push_back(duration);
      spans.instance.push_back(instance);
    };
    for (int number = 0; number < 30; ++number) {
      const std::string from = std::to_string(random() % 12);
      const std::string to = std::to_string(random() % 12);
      const std::int64_t bytes = random() % 10000;
      const std::int64_t transfer = 1 + random() % 500;
      const std::int64_t wait = random() % 500;
      const bool has_sender = random() % 8 != 0, has_receiver = random() % 8 != 0;
      for (const bool sender : {true, false}) {
        if (!(sender ? has_sender : has_receiver)) continue;
        Op op;
        op.output = Bytes{bytes};
        profile.ops.push_back(op);
        const OpId id{std::uint32_t(profile.ops.size() - 1)};
        profile.peer_ports.push_back(
            {id, text(from), text(to), text(std::to_string(number)), sender});
        for (std::uint32_t inference = 0; inference < 2; ++inference) {
          if (sender) {
            span(id, SpanKind::op, 1000, 10, inference);
            span(id, SpanKind::transfer, 1000, transfer, inference);
          } else {
            for (int thread = 0; thread < 4; ++thread) {
              span(id, SpanKind::sync, 2000, wait, inference);
              span(id, SpanKind::op, 2000 + wait, 1, inference);
            }
          }
          PeerRow& row = expected[{from, to}];
          PeerSide& side = sender ? row.sent : row.received;
          side.transfers += 1;
          side.bytes += bytes;
          side.time += sender ? transfer : wait;
        }
      }
      if (has_sender && has_receiver) expected[{from, to}].paired += 2;
      if (has_sender != has_receiver) unpaired += 2;
    }
    const Peers peers = analyse_peers(profile);
    EXPECT_EQ(peers.unpaired, unpaired);
    ASSERT_EQ(peers.rows.size(), expected.size());
    for (const PeerRow& row : peers.rows) {
      const PeerRow& twin = expected.at({row.from, row.to});
      EXPECT_EQ(row.sent.transfers, twin.sent.transfers);
      EXPECT_EQ(row.sent.bytes, twin.sent.bytes);
      EXPECT_EQ(row.sent.time, twin.sent.time);
      EXPECT_EQ(row.received.transfers, twin.received.transfers);
      EXPECT_EQ(row.received.bytes, twin.received.bytes);
      EXPECT_EQ(row.received.time, twin.received.time);
      EXPECT_EQ(row.paired, twin.paired);
    }
  }
}

// Device 1 waits from 0 to 900 but sends its own share only at 700: 200 are for device 0.
TEST(Peers, DoNotBlameOthersForWaitsBeforeTheOwnShare) {
  Profile profile;
  profile.units.push_back({});
  const auto add = [&](const char* from, const char* to, bool is_sender, SpanKind kind,
                       std::int64_t start, std::int64_t length) {
    const OpId op{std::uint32_t(profile.ops.size())};
    StringPool& strings = profile.strings;
    profile.ops.push_back({});
    profile.peer_ports.push_back(
        {op, strings.intern(from), strings.intern(to), strings.intern("4"), is_sender});
    profile.spans.unit.push_back(UnitId{0});
    profile.spans.op.push_back(op);
    profile.spans.kind.push_back(kind);
    profile.spans.start.push_back(start);
    profile.spans.duration.push_back(length);
  };
  add("1", "0", true, SpanKind::op, 700, 5);
  add("0", "1", false, SpanKind::sync, 0, 900);
  const Peers peers = analyse_peers(profile);
  ASSERT_EQ(peers.rows.size(), 2u);
  EXPECT_EQ(peers.rows[0].from, "0");
  EXPECT_EQ(peers.rows[0].received.time, 200);
}

TEST(Peers, OfOneDeviceAreNone) {
  EXPECT_TRUE(analyse_peers(Profile{}).rows.empty());
  Profile profile;
  profile.ops.push_back({});
  EXPECT_TRUE(analyse_peers(profile).rows.empty());
}

}  // namespace
}  // namespace npuscope::analysis::peers_test
