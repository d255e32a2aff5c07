#include "formats/qnn/write/write_dominant_path.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace npuscope::qnn::optrace {

namespace {

int class_of(OpFlag flag) {
  if (flag == OpFlag::uses_hmx) return 0;
  return flag == OpFlag::uses_hvx ? 1 : 2;
}

struct Boundary {
  std::uint64_t cycle = 0;
  bool starts = false;  // ends come first
  std::uint32_t instance = 0;
};

std::vector<Boundary> boundaries_of(const OptraceSet& set) {
  std::vector<Boundary> boundaries;
  boundaries.reserve(set.instances.size() * 2);
  for (std::uint32_t i = 0; i < set.instances.size(); ++i) {
    const Instance& instance = set.instances[i];
    if (instance.cycles == 0) continue;
    boundaries.push_back({instance.start_cycle, true, i});
    boundaries.push_back({instance.start_cycle + instance.cycles, false, i});
  }
  std::sort(boundaries.begin(), boundaries.end(), [](const Boundary& a, const Boundary& b) {
    return std::tuple(a.cycle, a.starts, a.instance) < std::tuple(b.cycle, b.starts, b.instance);
  });
  return boundaries;
}

class Sweep {
 public:
  explicit Sweep(DominantPath& path) : path_(path), since_(path.start_cycle) {}

  // `owner` holds from `cycle` on; nobody: idle.
  void hand_over(std::uint64_t cycle, std::uint32_t owner) {
    if (owner == owner_) return;
    finish(cycle);
    owner_ = owner;
  }

  void finish(std::uint64_t cycle) {
    if (cycle > since_) close(cycle);
    since_ = cycle;
  }

  static constexpr std::uint32_t nobody = ~0u;

 private:
  void close(std::uint64_t cycle) {
    if (owner_ == nobody) {
      path_.idle.push_back({since_, cycle});
      path_.total_idle += cycle - since_;
    } else {
      path_.segments.push_back({owner_, since_, cycle});
      path_.owned[owner_] += cycle - since_;
      path_.total += cycle - since_;
    }
  }

  DominantPath& path_;
  std::uint32_t owner_ = nobody;
  std::uint64_t since_;
};

}  // namespace

DominantPath dominant_path_of(const OptraceSet& set) {
  DominantPath path;
  path.owned.resize(set.instances.size());
  path.start_cycle = set.instances.front().start_cycle;
  for (const Instance& instance : set.instances) {
    path.start_cycle = std::min(path.start_cycle, instance.start_cycle);
    path.end_cycle = std::max(path.end_cycle, instance.start_cycle + instance.cycles);
  }
  using Key = std::tuple<int, std::uint32_t, std::uint64_t, std::uint32_t>;
  const auto key_of = [&](std::uint32_t i) {
    const Instance& instance = set.instances[i];
    return Key{class_of(set.ops[instance.op].flag), instance.tid, instance.start_cycle, i};
  };
  const std::vector<Boundary> boundaries = boundaries_of(set);
  std::set<Key> running;
  Sweep sweep(path);
  for (std::size_t i = 0; i < boundaries.size(); ++i) {
    const Boundary& boundary = boundaries[i];
    if (boundary.starts) {
      running.insert(key_of(boundary.instance));
    } else {
      running.erase(key_of(boundary.instance));
    }
    if (i + 1 < boundaries.size() && boundaries[i + 1].cycle == boundary.cycle) continue;
    sweep.hand_over(boundary.cycle,
                    running.empty() ? Sweep::nobody : std::get<3>(*running.begin()));
  }
  sweep.finish(path.end_cycle);  // after it only instances without length
  return path;
}

}  // namespace npuscope::qnn::optrace
