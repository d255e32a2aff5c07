// What devices of a multi-device program send one another: who, to whom, how much.
//
//   for (const PeerRow& row : analyse_peers(profile).rows) …
//   row.from, row.to                      // "0", "1"
//   row.sent.bytes == row.received.bytes  // both sides of every transfer are in the profile
//   row.paired                            // transfers with both sides
//
// A transfer is the op that sends it, which has a port and a number (Profile::peer_ports), and the
// op of the other device that has the same. Transfers of one inference are paired with those of the
// same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

struct PeerSide {
  std::uint64_t transfers = 0;
  std::int64_t bytes = 0;
  // Ticks, sum over transfers: of the sender, from issue to arrival; of the receiver, what it
  // waited for the data after it had begun to send its own share of the same exchange.
  std::int64_t time = 0;
};

struct PeerRow {
  std::string from, to;
  PeerSide sent;
  PeerSide received;
  std::uint64_t paired = 0;
};

struct Peers {
  std::vector<PeerRow> rows;  // by sender, then receiver
  std::uint64_t unpaired = 0;
};

// No rows where nothing is exchanged. Linear in the spans, but for sorting the transfers.
Peers analyse_peers(const Profile& profile);

}  // namespace npuscope::analysis
