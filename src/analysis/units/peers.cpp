#include "analysis/units/peers.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "base/sort_rows.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::int64_t max_ticks = std::numeric_limits<std::int64_t>::max();

// One execution of a sending or receiving op in one inference, on however many threads.
struct PeerRun {
  std::int64_t transfer = 0;  // the longest
  std::int64_t work = 0;      // of the op itself, on the thread where it took longest
  std::int64_t start = max_ticks;
  std::int64_t wait_begin = max_ticks;
  std::int64_t wait_end = -max_ticks;
};

struct Sides {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

class PeerAnalysis {
 public:
  explicit PeerAnalysis(const Profile& profile) : profile_(profile) {}

  Peers run() {
    if (profile_.peer_ports.empty()) return {};
    find_ports();
    collect_runs();
    for (const auto& [key, run] : runs_) note_sending(key.first, key.second, run);
    for (const auto& [key, run] : runs_) add(key.first, key.second, run);
    return finish();
  }

 private:
  using RunKey = std::pair<std::uint32_t, std::uint32_t>;  // op, inference
  using Transfer = std::tuple<StringId, StringId, StringId, std::uint32_t>;

  void find_ports() {
    ports_.assign(profile_.ops.size(), nullptr);
    for (const PeerPort& port : profile_.peer_ports) {
      if (index_of(port.op) < ports_.size()) ports_[index_of(port.op)] = &port;
    }
  }

  void collect_runs() {
    const Spans& spans = profile_.spans;
    for (std::size_t row = 0; row < spans.size(); ++row) {
      const OpId op = spans.op[row];
      if (index_of(op) >= ports_.size() || !ports_[index_of(op)]) continue;
      const std::uint32_t inference = row < spans.instance.size() ? spans.instance[row] : 0;
      const std::int64_t duration = std::max<std::int64_t>(0, spans.duration[row]);
      PeerRun& run = runs_[{index_of(op), inference}];
      const std::int64_t start = spans.start[row];
      switch (spans.kind[row]) {
        case SpanKind::op:
          run.work = std::max(run.work, duration);
          run.start = std::min(run.start, start);
          break;
        case SpanKind::transfer: run.transfer = std::max(run.transfer, duration); break;
        case SpanKind::sync:
          run.wait_begin = std::min(run.wait_begin, start);
          run.wait_end = std::max(run.wait_end, saturating_add(start, duration));
          break;
        default: break;
      }
    }
  }

  // When a device began to send its own share of an exchange.
  void note_sending(std::uint32_t op, std::uint32_t inference, const PeerRun& run) {
    const PeerPort& port = *ports_[op];
    if (!port.is_sender) return;
    auto& start =
        sending_.try_emplace({port.from, port.transaction, inference}, max_ticks).first->second;
    start = std::min(start, run.start);
  }

  // What a receiver waited once it had begun to send its own share: before, it waits for itself.
  std::int64_t wait_of(const PeerPort& port, std::uint32_t inference, const PeerRun& run) const {
    if (run.wait_end <= run.wait_begin) return 0;
    const auto own = sending_.find({port.to, port.transaction, inference});
    const bool known = own != sending_.end() && own->second != max_ticks;
    const std::int64_t begin = known ? std::max(run.wait_begin, own->second) : run.wait_begin;
    return std::max<std::int64_t>(0, saturating_subtract(run.wait_end, begin));
  }

  void add(std::uint32_t op, std::uint32_t inference, const PeerRun& run) {
    const PeerPort& port = *ports_[op];
    PeerRow& row = rows_[{port.from, port.to}];
    PeerSide& side = port.is_sender ? row.sent : row.received;
    side.transfers += 1;
    side.bytes =
        saturating_add(side.bytes, std::max<std::int64_t>(0, profile_.ops[op].output.value));
    const std::int64_t sending = run.transfer > 0 ? run.transfer : run.work;
    const std::int64_t time = port.is_sender ? sending : wait_of(port, inference, run);
    side.time = saturating_add(side.time, time);
    Sides& sides = transfers_[{port.from, port.to, port.transaction, inference}];
    (port.is_sender ? sides.sent : sides.received) += 1;
  }

  Peers finish() {
    Peers peers;
    for (const auto& [transfer, sides] : transfers_) {
      const std::uint64_t pairs = std::min(sides.sent, sides.received);
      rows_[{std::get<0>(transfer), std::get<1>(transfer)}].paired += pairs;
      peers.unpaired += sides.sent + sides.received - 2 * pairs;
    }
    for (auto& [ports, row] : rows_) {
      row.from = profile_.text(ports.first);
      row.to = profile_.text(ports.second);
      peers.rows.push_back(std::move(row));
    }
    // "10" after "9".
    sort_rows(peers.rows.begin(), peers.rows.end(), [](const PeerRow& a, const PeerRow& b) {
      return std::tuple(a.from.size(), a.from, a.to.size(), a.to) <
             std::tuple(b.from.size(), b.from, b.to.size(), b.to);
    });
    return peers;
  }

  const Profile& profile_;
  std::vector<const PeerPort*> ports_;  // by op
  std::map<RunKey, PeerRun> runs_;
  std::map<Transfer, Sides> transfers_;
  std::map<std::tuple<StringId, StringId, std::uint32_t>, std::int64_t> sending_;
  std::map<std::pair<StringId, StringId>, PeerRow> rows_;
};

}  // namespace

Peers analyse_peers(const Profile& profile) { return PeerAnalysis(profile).run(); }

}  // namespace npuscope::analysis
