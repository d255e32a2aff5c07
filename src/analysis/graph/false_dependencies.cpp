#include "analysis/graph/false_dependencies.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "analysis/ops/op_times.hpp"
#include "base/counting_sort.hpp"
#include "base/sort_rows.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::size_t max_pairs = 2048;  // each 32 need a pass over the graph

std::int64_t first_begin(const OpTimes& times) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (std::size_t op = 0; op < times.work.size(); ++op) {
    if (times.work[op] >= 0) first = std::min(first, times.begin[op]);
  }
  return first;
}

// When an op's unit was free and the results were there that it needs, memory aside.
std::int64_t ready_time(const OpGraph& graph, const OpTimes& times, OpId op,
                        std::int64_t beginning) {
  std::int64_t ready = std::max(times.free_since[index_of(op)], beginning);
  for (const std::uint32_t i : graph.to(op)) {
    const Edge& edge = graph.edges()[i];
    if (edge.kind == EdgeKind::reuse || edge.kind == EdgeKind::order || !times.ran(edge.from)) {
      continue;
    }
    ready = std::max(ready, times.end[index_of(edge.from)]);
  }
  return ready;
}

class Sharing {
 public:
  Sharing(const Profile& profile, const OpGraph& graph, const OpTimes& times)
      : profile_(profile), graph_(graph), times_(times), beginning_(first_begin(times)) {}

  SharedTensors find() {
    collect_uses();
    for (std::uint32_t tensor = 0; tensor < profile_.tensors.size(); ++tensor) look_at(tensor);
    sort_rows(pairs_.begin(), pairs_.end(),
              [&](const auto& a, const auto& b) { return size_of(a) > size_of(b); });
    if (pairs_.size() > max_pairs) {
      shared_.not_tried = pairs_.size() - max_pairs;
      pairs_.resize(max_pairs);
    }
    test_pairs();
    sort_rows(shared_.findings.begin(), shared_.findings.end(),
              [](const SharedTensor& a, const SharedTensor& b) { return a.waited > b.waited; });
    return std::move(shared_);
  }

 private:
  std::int64_t size_of(const SharedTensor& pair) const {
    return profile_.tensors[pair.tensor].size.value;
  }

  void collect_uses() {
    const std::size_t tensors = profile_.tensors.size();
    uses_ = Grouped<>(profile_.tensor_uses.size(), tensors, [&](std::size_t i) {
      const TensorUse& use = profile_.tensor_uses[i];
      const bool valid = use.tensor < tensors && index_of(use.consumer) < graph_.size();
      return valid ? use.tensor : counting_sort_leaves_out;
    });
  }

  bool is_scratch(const Tensor& tensor) const {
    if (tensor.is_constant) return true;
    return index_of(tensor.producer) >= graph_.size() &&
           profile_.text(tensor.memory).find("TCM") != std::string_view::npos;
  }

  void look_at(std::uint32_t number) {
    const Tensor& tensor = profile_.tensors[number];
    const auto uses = uses_.of(number);
    if (uses.size() < 2 || !is_scratch(tensor)) return;
    std::vector<OpId> users;
    for (const std::uint32_t use : uses) users.push_back(profile_.tensor_uses[use].consumer);
    std::sort(users.begin(), users.end());
    users.erase(std::unique(users.begin(), users.end()), users.end());
    if (users.size() < 2) return;
    if (tensor.size.value < min_scratch_bytes) {
      ++shared_.small;
      return;
    }
    const std::uint64_t consumers = users.size();
    std::erase_if(users, [&](OpId op) {
      return is_known_kernel(profile_.text(profile_.ops[index_of(op)].kind));
    });
    if (users.size() < 2) {
      ++shared_.read_only;
      return;
    }
    const auto key = [&](OpId op) {
      return times_.ran(op) ? times_.begin[index_of(op)] : std::numeric_limits<std::int64_t>::max();
    };
    sort_rows(users.begin(), users.end(), [&](OpId a, OpId b) { return key(a) < key(b); });
    put_pairs(number, consumers, users);
  }

  // Neighbours in time: when none of these overlap, no others do.
  void put_pairs(std::uint32_t tensor, std::uint64_t consumers, const std::vector<OpId>& users) {
    bool overlap = false;
    for (std::size_t i = 1; i < users.size(); ++i) {
      SharedTensor pair;
      pair.tensor = tensor;
      pair.consumers = consumers;
      pair.first = users[i - 1];
      pair.second = users[i];
      const std::uint32_t a = index_of(pair.first), b = index_of(pair.second);
      if (times_.ran(pair.first) && times_.ran(pair.second)) {
        if (times_.begin[b] < times_.end[a]) {
          overlap = true;
          continue;
        }
        const std::int64_t ready = ready_time(graph_, times_, pair.second, beginning_);
        pair.waited = std::max<std::int64_t>(saturating_subtract(times_.end[a], ready), 0);
        pair.verdict = pair.waited > 0 ? SharingVerdict::waited : SharingVerdict::unit_busy;
      }
      pairs_.push_back(pair);
    }
    shared_.overlapping += overlap;
  }

  void test_pairs() {
    EdgeKinds true_kinds;
    for (const EdgeKind kind : {EdgeKind::data, EdgeKind::transfer, EdgeKind::flow}) {
      true_kinds.add(kind);
    }
    const GraphOrder order = order_of(graph_, EdgeKinds::all());
    Reach truly(graph_, order, true_kinds), somehow(graph_, order, EdgeKinds::all());
    constexpr std::size_t batch = Reach::max_sets / 2;
    for (std::size_t begin = 0; begin < pairs_.size(); begin += batch) {
      const std::size_t end = std::min(begin + batch, pairs_.size());
      for (Reach* reach : {&truly, &somehow}) {
        reach->start();
        for (std::size_t i = begin; i < end; ++i) {
          reach->add(2 * (i - begin), pairs_[i].first);
          reach->add(2 * (i - begin) + 1, pairs_[i].second);
        }
        reach->spread();
      }
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint64_t forward = std::uint64_t{1} << (2 * (i - begin));
        const bool depend = (truly.at(pairs_[i].second) & forward) != 0 ||
                            (truly.at(pairs_[i].first) & forward << 1) != 0;
        if (depend) {
          ++shared_.dependent;
          continue;
        }
        pairs_[i].ordered_by_compiler = (somehow.at(pairs_[i].second) & forward) != 0;
        shared_.findings.push_back(pairs_[i]);
      }
    }
  }

  const Profile& profile_;
  const OpGraph& graph_;
  const OpTimes& times_;
  std::int64_t beginning_;
  Grouped<> uses_;  // by tensor
  std::vector<SharedTensor> pairs_;
  SharedTensors shared_;
};

}  // namespace

bool is_known_kernel(std::string_view kind) {
  if (kind.starts_with("q::") || kind.starts_with("aic") || kind.starts_with("element")) {
    return true;
  }
  if (const auto colon = kind.rfind(':'); colon != kind.npos) kind.remove_prefix(colon + 1);
  std::string lower(kind);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  static constexpr std::array usual{
      "conv",      "depthwise", "matmul",  "gemm",      "fullyconnected", "add",
      "mul",       "sub",       "div",     "concat",    "slice",          "split",
      "pad",       "gather",    "softmax", "layernorm", "norm",           "rmsnorm",
      "transpose", "relu",      "gelu",    "sigmoid",   "tanh",           "pool",
      "maxpool",   "avgpool",   "cast",    "quantize",  "dequantize",     "reshape",
      "reduce",    "select",    "where",   "spill",     "fill",           "dma"};
  return std::any_of(usual.begin(), usual.end(),
                     [&](const char* word) { return lower.starts_with(word); });
}

SharedTensors shared_tensors(const Profile& profile, const OpGraph& graph, const OpTimes& times) {
  return Sharing(profile, graph, times).find();
}

ReuseWaits reuse_waits(const OpGraph& graph, const OpTimes& times) {
  ReuseWaits found;
  std::vector<Interval> waiting;
  const std::int64_t beginning = first_begin(times);
  for (std::uint32_t op = 0; op < graph.size(); ++op) {
    if (!times.ran(OpId(op))) continue;
    OpId last = OpId::none;  // of those whose memory it takes, the one that ends last
    for (const std::uint32_t i : graph.to(OpId(op))) {
      const Edge& edge = graph.edges()[i];
      if (edge.kind != EdgeKind::reuse || !times.ran(edge.from)) continue;
      ++found.edges;
      if (times.end[index_of(edge.from)] > times.begin[op]) {
        ++found.not_kept;
      } else if (last == OpId::none || times.end[index_of(edge.from)] > times.end[index_of(last)]) {
        last = edge.from;
      }
    }
    if (last == OpId::none || times.unit[index_of(last)] == times.unit[op]) continue;
    const std::int64_t ready = ready_time(graph, times, OpId(op), beginning);
    const std::int64_t waited = saturating_subtract(times.end[index_of(last)], ready);
    if (waited <= 0) continue;
    found.waits.push_back({OpId(op), last, ready, waited});
    found.sum = saturating_add(found.sum, waited);
    waiting.push_back({ready, times.end[index_of(last)]});
  }
  found.active = covered_length(waiting);
  sort_rows(found.waits.begin(), found.waits.end(),
            [](const ReuseWait& a, const ReuseWait& b) { return a.waited > b.waited; });
  return found;
}

}  // namespace npuscope::analysis
