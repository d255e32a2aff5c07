// What arrows join. Ids of flows repeat across cards and inferences, so they are paired within a
// card, the first start with the first end; what is left over is paired across cards.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "base/numbers.hpp"
#include "base/sort_rows.hpp"
#include "formats/qaic/opstats/opstats_reader.hpp"
#include "profile/shape_texts.hpp"

namespace npuscope::qaic {
namespace {

constexpr std::size_t nearest_searched = 64;  // slices to either side of an arrow's end

bool is_flow(char phase) { return phase == 's' || phase == 't' || phase == 'f'; }

struct Pair {
  std::uint32_t from = 0;  // marks
  std::uint32_t to = 0;
};

class FlowPairing {
 public:
  FlowPairing(const chrome::Marks& marks, const OpstatsTracks& tracks)
      : marks_(marks), tracks_(tracks) {
    for (std::size_t i = 0; i < marks.size(); ++i) {
      if (is_flow(marks.phase[i])) flows_.push_back(std::uint32_t(i));
    }
  }

  std::vector<Pair> run() {
    each_run(flows_, true, [&](std::span<const std::uint32_t> run) { pair_run(run, left_over_); });
    std::sort(left_over_.begin(), left_over_.end());
    std::vector<std::uint32_t> unpaired;
    each_run(left_over_, false,
             [&](std::span<const std::uint32_t> run) { pair_run(run, unpaired); });
    unpaired_ = unpaired.size();
    std::sort(pairs_.begin(), pairs_.end(), [](const Pair& a, const Pair& b) {
      return std::tie(a.from, a.to) < std::tie(b.from, b.to);
    });
    return std::move(pairs_);
  }
  std::uint64_t unpaired() const { return unpaired_; }

 private:
  std::uint32_t card(std::uint32_t mark) const {
    return index_of(tracks_.of_thread[marks_.thread[mark]].root);
  }

  // Calls `body` with the marks of one id (and card), in file order.
  template <class Body>
  void each_run(std::vector<std::uint32_t>& marks, bool by_card, Body body) const {
    const auto key = [&](std::uint32_t mark) {
      return std::tuple(by_card ? card(mark) : 0, std::uint32_t(marks_.category[mark]),
                        std::uint32_t(marks_.id[mark]));
    };
    std::vector<std::uint32_t> sorted = marks;
    sort_rows(sorted.begin(), sorted.end(),
              [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    for (std::size_t begin = 0; begin < sorted.size();) {
      std::size_t end = begin + 1;
      while (end < sorted.size() && key(sorted[end]) == key(sorted[begin])) ++end;
      body(std::span<const std::uint32_t>(sorted).subspan(begin, end - begin));
      begin = end;
    }
  }

  // As many ends as starts: the first with the first, wherever they stand. Otherwise each end (and
  // step, which is both) belongs to the start or step before it.
  void pair_run(std::span<const std::uint32_t> run, std::vector<std::uint32_t>& left_over) {
    std::vector<std::uint32_t> starts, ends;
    bool has_steps = false;
    for (const std::uint32_t mark : run) {
      has_steps = has_steps || marks_.phase[mark] == 't';
      (marks_.phase[mark] == 's' ? starts : ends).push_back(mark);
    }
    if (!has_steps && starts.size() == ends.size()) {
      for (std::size_t i = 0; i < starts.size(); ++i) pairs_.push_back({starts[i], ends[i]});
      return;
    }
    if (starts.empty() || ends.empty()) {
      left_over.insert(left_over.end(), run.begin(), run.end());
      return;
    }
    const std::uint32_t none = 0xffffffff;
    std::uint32_t open = none;
    bool used = true;
    for (const std::uint32_t mark : run) {
      if (marks_.phase[mark] != 's') {
        if (open == none) {
          left_over.push_back(mark);
          continue;
        }
        pairs_.push_back({open, mark});
        used = true;
        if (marks_.phase[mark] == 't') open = mark;
        continue;
      }
      if (!used) left_over.push_back(open);
      open = mark;
      used = false;
    }
    if (!used) left_over.push_back(open);
  }

  const chrome::Marks& marks_;
  const OpstatsTracks& tracks_;
  std::vector<std::uint32_t> flows_;
  std::vector<std::uint32_t> left_over_;
  std::vector<Pair> pairs_;
  std::uint64_t unpaired_ = 0;
};

// Finds the span that an arrow's end lies in.
class SpanFinder {
 public:
  SpanFinder(const Column<std::uint32_t>& thread_of_row, std::size_t threads,
             const Profile& profile)
      : profile_(profile), begin_(threads + 1, 0), rows_(thread_of_row.size()) {
    for (const std::uint32_t thread : thread_of_row) begin_[thread + 1] += 1;
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      rows_[next[thread_of_row[row]]++] = std::uint32_t(row);
    }
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
      return profile.spans.start[a] < profile.spans.start[b];
    };
    for (std::size_t thread = 0; thread < threads; ++thread) {
      const auto first = rows_.begin() + begin_[thread], last = rows_.begin() + begin_[thread + 1];
      if (!std::is_sorted(first, last, earlier)) sort_rows(first, last, earlier);
    }
  }

  // The span on that thread that carries the op of number `number` and is nearest to the time; with
  // no number, the last to begin of those that hold the time. Ops and transfers before waits.
  SpanId find(std::uint32_t thread, std::int64_t time, std::optional<std::int64_t> number) const {
    const auto first = rows_.begin() + begin_[thread], last = rows_.begin() + begin_[thread + 1];
    const auto after = std::upper_bound(first, last, time, [&](std::int64_t at, std::uint32_t row) {
      return at < profile_.spans.start[row];
    });
    const auto lowest = after - first < std::ptrdiff_t(nearest_searched)
                            ? first
                            : after - std::ptrdiff_t(nearest_searched);
    const auto highest = last - after < std::ptrdiff_t(nearest_searched)
                             ? last
                             : after + std::ptrdiff_t(nearest_searched);
    std::uint32_t best = index_of(SpanId::none);
    std::tuple<bool, std::int64_t, std::int64_t> best_rank{};
    for (auto at = lowest; at != highest; ++at) {
      const std::uint32_t row = *at;
      if (number && !is_op(row, *number)) continue;
      const auto rank = std::tuple(is_wait(row), distance(row, time), -profile_.spans.start[row]);
      if (!number && distance(row, time) > 1) continue;
      if (best != index_of(SpanId::none) && !(rank < best_rank)) continue;
      best = row;
      best_rank = rank;
    }
    return SpanId(best);
  }

 private:
  bool is_op(std::uint32_t row, std::int64_t number) const {
    const OpId op = profile_.spans.op[row];
    return op != OpId::none && profile_.ops[index_of(op)].id == std::uint64_t(number);
  }
  bool is_wait(std::uint32_t row) const {
    const SpanKind kind = profile_.spans.kind[row];
    return kind == SpanKind::sync || kind == SpanKind::barrier;
  }
  std::int64_t distance(std::uint32_t row, std::int64_t time) const {
    const std::int64_t start = profile_.spans.start[row];
    return std::max({std::int64_t{0}, start - time, time - (start + profile_.spans.duration[row])});
  }

  const Profile& profile_;
  std::vector<std::uint32_t> begin_;
  std::vector<std::uint32_t> rows_;
};

// An op number in a flow's args, quoted or not.
std::optional<std::int64_t> number_of(const chrome::Marks& marks, std::uint32_t mark,
                                      std::optional<StringId> key, const StringPool& strings) {
  if (!key) return std::nullopt;
  const auto value = marks.arguments.find(mark, *key);
  if (!value) return std::nullopt;
  if (value->key.type == ArgumentType::integer && value->integer() >= 0) return value->integer();
  if (value->key.type != ArgumentType::text) return std::nullopt;
  const auto number = parse_number<std::int64_t>(strings[value->text()]);
  return number && *number >= 0 ? number : std::nullopt;
}

EdgeKind kind_of(std::string_view category) {
  if (category == "true") return EdgeKind::data;
  return category == "false" ? EdgeKind::reuse : EdgeKind::flow;
}

// Several inferences draw the same edge again.
void add_edge(std::vector<Edge>& edges, OpId from, OpId to, EdgeKind kind) {
  if (from != OpId::none && to != OpId::none) edges.push_back({from, to, kind});
}

void remove_repeats(std::vector<Edge>& edges) {
  const auto key = [](const Edge& edge) { return std::tuple(edge.to, edge.from, edge.kind); };
  std::sort(edges.begin(), edges.end(),
            [&](const Edge& a, const Edge& b) { return key(a) < key(b); });
  edges.erase(std::unique(edges.begin(), edges.end(),
                          [&](const Edge& a, const Edge& b) { return key(a) == key(b); }),
              edges.end());
}

// Traces of few details name the ports only beside the op's attributes.
void tell_port(const PortSpan& side, OpId op, Profile& profile) {
  if (op == OpId::none) return;
  StringId& attributes = profile.ops[index_of(op)].attributes;
  if (attribute_in(profile.strings[attributes], "PortDescription")) return;
  attributes = profile.strings.intern(fmt::format(
      "{}{{PortType: P2P, PortDescription: {}, TransactionId: {}}}", profile.strings[attributes],
      profile.strings[side.description], profile.strings[side.transaction]));
}

}  // namespace

void add_opstats_flows(const chrome::Marks& marks, const Column<std::uint32_t>& thread_of_row,
                       const OpstatsTracks& tracks, std::int64_t origin, Profile& profile) {
  FlowPairing pairing(marks, tracks);
  const std::vector<Pair> pairs = pairing.run();
  if (pairing.unpaired() > 0) {
    profile.notes.push_back(
        {Severity::warning, "", 0, "flow events have no other end; left out", pairing.unpaired()});
  }
  if (pairs.empty()) return;
  const SpanFinder finder(thread_of_row, tracks.of_thread.size(), profile);
  const auto key = profile.strings.find("oc");
  const auto end_of = [&](std::uint32_t mark) {
    return finder.find(marks.thread[mark], origin + ticks_of(marks.time[mark]),
                       number_of(marks, mark, key, profile.strings));
  };
  std::uint64_t unbound = 0;
  for (const Pair& pair : pairs) {
    const SpanId from = end_of(pair.from), to = end_of(pair.to);
    if (from == SpanId::none || to == SpanId::none) {
      unbound += 1;
      continue;
    }
    const EdgeKind kind = kind_of(profile.strings[marks.category[pair.from]]);
    profile.flows.push_back({from, to, kind, marks.name[pair.from], marks.category[pair.from]});
    if (kind != EdgeKind::flow) {
      add_edge(profile.edges, profile.spans.op[index_of(from)], profile.spans.op[index_of(to)],
               kind);
    }
  }
  remove_repeats(profile.edges);
  if (unbound > 0) {
    profile.notes.push_back(
        {Severity::warning, "", 0, "flows end where no slice is; left out", unbound});
  }
}

// Sides of one transfer name the same ports and transaction; of several, those of the same rank in
// the file belong together.
void add_port_edges(const std::vector<PortSpan>& ports, Profile& profile) {
  struct Sides {
    std::vector<std::uint32_t> out, in;
  };
  std::map<std::tuple<std::string_view, std::string_view, StringId>, Sides> transfers;
  std::uint64_t unpaired = 0;
  std::set<std::pair<OpId, std::uint32_t>> seen;
  for (const PortSpan& side : ports) {
    // The issue of a transfer, the transfer itself and the threads of an op are one side of it.
    const OpId op = profile.spans.op[side.row];
    const std::uint32_t inference =
        profile.spans.instance.empty() ? 0 : profile.spans.instance[side.row];
    if (op != OpId::none && !seen.insert({op, inference}).second) continue;
    tell_port(side, op, profile);
    const auto port = port_in(profile.strings[side.description]);
    if (!port) {
      unpaired += 1;
      continue;
    }
    Sides& sides = transfers[{port->from, port->to, side.transaction}];
    (port->is_sender ? sides.out : sides.in).push_back(side.row);
  }
  for (const auto& [key, sides] : transfers) {
    const std::size_t pairs = std::min(sides.out.size(), sides.in.size());
    for (std::size_t i = 0; i < pairs; ++i) {
      add_edge(profile.edges, profile.spans.op[sides.out[i]], profile.spans.op[sides.in[i]],
               EdgeKind::transfer);
    }
    unpaired += sides.out.size() + sides.in.size() - 2 * pairs;
  }
  remove_repeats(profile.edges);
  if (unpaired > 0) {
    profile.notes.push_back({Severity::warning, "", 0,
                             "transfers between devices have no other side in the file", unpaired});
  }
}

}  // namespace npuscope::qaic
