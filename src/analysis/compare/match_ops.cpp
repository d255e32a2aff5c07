#include "npuscope/analysis/match_ops.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>

#include "analysis/ops/row_names.hpp"

namespace npuscope::analysis {

const char* name_of(MatchedBy by) {
  constexpr const char* names[] = {"name", "node, another kernel", "name but for ordinals",
                                   "neighbours", "structure"};
  return names[std::size_t(by)];
}

namespace {

constexpr std::uint32_t unmatched = UnmatchedOp::none;
// A neighbour of everything says nothing about where something stands, and asking it costs.
constexpr std::size_t max_neighbours = 64;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  hash = (hash ^ (hash >> 31)) * 0xbf58476d1ce4e5b9;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_of(std::string_view text) { return std::hash<std::string_view>{}(text); }

using Labels = std::unordered_set<std::string_view>;

Labels labels_of(const OpGroups& groups) {
  Labels labels;
  for (const OpGroup& each : groups.groups()) {
    if (!each.identity.empty()) labels.insert(each.label);
  }
  return labels;
}

// Labels with lines of a source that stayed as it was say more than identities, which count places:
// two schedules of a model may choose other kernels for one place.
bool are_of_one_source(const OpGroups& a, const OpGroups& b) {
  const Labels of_a = labels_of(a), of_b = labels_of(b);
  const bool a_is_less = of_a.size() < of_b.size();
  const Labels &less = a_is_less ? of_a : of_b, &more = a_is_less ? of_b : of_a;
  return std::all_of(less.begin(), less.end(),
                     [&](std::string_view label) { return more.contains(label); });
}

struct OpSide {
  OpSide(const OpGroups& of, bool identities)
      : groups(of), by_identity(identities), pair_of(of.groups().size(), unmatched) {}

  // The last group is of spans without an op: it is matched with its like, if at all, by name.
  std::uint32_t count() const { return std::uint32_t(groups.groups().size()); }
  const OpGroup& group(std::uint32_t at) const { return groups.groups()[at]; }
  bool is_free(std::uint32_t at) const { return pair_of[at] == unmatched; }
  // One with a kernel: what has none looks like everything.
  bool may_match_by_structure(std::uint32_t at) const {
    return is_free(at) && !group(at).kind.empty();
  }

  // What the group is known by on both sides.
  std::string_view name(std::uint32_t at) const {
    const std::string_view identity = by_identity ? group(at).identity : std::string_view();
    return identity.empty() ? std::string_view(group(at).label) : identity;
  }

  const OpGroups& groups;
  bool by_identity;
  std::vector<std::uint32_t> pair_of;
};

class OpMatcher {
 public:
  OpMatcher(const OpGroups& a, const OpGroups& b)
      : OpMatcher(a, b, a.has_identities() && b.has_identities() && !are_of_one_source(a, b)) {}

  OpMatching finish();

 private:
  OpMatcher(const OpGroups& a, const OpGroups& b, bool by_identity)
      : a_(a, by_identity), b_(b, by_identity) {}

  using Members = std::vector<std::uint32_t>;
  struct Bucket {
    Members a, b;
  };

  void pair(Members a, Members b, MatchedBy by);
  template <class Key, class KeyOf>
  std::vector<Bucket> buckets_by(KeyOf key_of) const;
  void match_tilings();
  void match_names();
  void match_kernels();
  void match_ordinals();
  void match_neighbours();
  void match_structure();
  std::optional<std::uint64_t> surroundings(const OpSide& side, std::uint32_t group) const;
  std::vector<std::uint64_t> colours(const OpSide& side) const;
  Members beside(const OpSide& side, std::uint32_t pair, bool is_a) const;
  void explain(const OpSide& side, const OpSide& other, bool is_a, std::vector<UnmatchedOp>& out);
  UnmatchedOp explained(const OpSide& side, const OpSide& other, bool is_a,
                        std::uint32_t group) const;

  OpSide a_, b_;
  std::vector<OpPair> pairs_;
};

void OpMatcher::pair(Members a, Members b, MatchedBy by) {
  const auto at = std::uint32_t(pairs_.size());
  for (const std::uint32_t group : a) a_.pair_of[group] = at;
  for (const std::uint32_t group : b) b_.pair_of[group] = at;
  pairs_.push_back({std::move(a), std::move(b), by});
}

// The free groups of both sides with equal keys, in the order of their first; those that key_of()
// gives none are left out, and so is what one side alone has.
template <class Key, class KeyOf>
std::vector<OpMatcher::Bucket> OpMatcher::buckets_by(KeyOf key_of) const {
  std::unordered_map<Key, std::size_t> place;
  std::vector<Bucket> buckets;
  for (std::uint32_t group = 0; group < a_.count(); ++group) {
    if (!a_.is_free(group)) continue;
    const std::optional<Key> key = key_of(a_, group);
    if (!key) continue;
    const auto [found, is_new] = place.try_emplace(*key, buckets.size());
    if (is_new) buckets.emplace_back();
    buckets[found->second].a.push_back(group);
  }
  for (std::uint32_t group = 0; group < b_.count(); ++group) {
    if (!b_.is_free(group)) continue;
    const std::optional<Key> key = key_of(b_, group);
    if (!key) continue;
    const auto found = place.find(*key);
    if (found != place.end()) buckets[found->second].b.push_back(group);
  }
  std::erase_if(buckets, [](const Bucket& bucket) { return bucket.b.empty(); });
  return buckets;
}

std::string key_text(std::string_view label, std::string_view kind) {
  return std::string(label).append(1, '\0').append(kind);
}

std::optional<std::string> stem_key(const OpSide& side, std::uint32_t at) {
  const std::string stem = without_ordinals(side.name(at));
  if (stem.empty()) return std::nullopt;
  return key_text(stem, side.group(at).kind);
}

// One, or the tiles 0, 1, 2 … of one.
bool are_tiles(const OpSide& side, const std::vector<std::uint32_t>& members) {
  std::vector<bool> seen(members.size(), false);
  for (const std::uint32_t group : members) {
    const auto tile = last_ordinal(side.name(group));
    if (members.size() > 1 && (!tile || *tile >= seen.size())) return false;
    if (members.size() > 1) seen[*tile] = true;
  }
  return members.size() == 1 || std::find(seen.begin(), seen.end(), false) == seen.end();
}

// A node that is cut into another number of tiles: one tile is not the other's.
void OpMatcher::match_tilings() {
  for (Bucket& bucket : buckets_by<std::string>(stem_key)) {
    if (bucket.a.size() == bucket.b.size()) continue;
    if (!are_tiles(a_, bucket.a) || !are_tiles(b_, bucket.b)) continue;
    pair(std::move(bucket.a), std::move(bucket.b), MatchedBy::ordinal);
  }
}

void OpMatcher::match_names() {
  const auto key = [](const OpSide& side, std::uint32_t at) {
    const OpGroup& group = side.group(at);
    return std::optional(group.ops == 0 ? std::string(2, '\0')
                                        : key_text(side.name(at), group.kind));
  };
  for (const Bucket& bucket : buckets_by<std::string>(key)) {
    pair(bucket.a, bucket.b, MatchedBy::name);
  }
}

void OpMatcher::match_kernels() {
  const auto key = [](const OpSide& side, std::uint32_t at) -> std::optional<std::string_view> {
    if (side.name(at).empty()) return std::nullopt;
    return side.name(at);
  };
  for (Bucket& bucket : buckets_by<std::string_view>(key)) {
    if (bucket.a.size() == 1 && bucket.b.size() == 1) {
      pair(std::move(bucket.a), std::move(bucket.b), MatchedBy::kernel);
    }
  }
}

void OpMatcher::match_ordinals() {
  for (Bucket& bucket : buckets_by<std::string>(stem_key)) {
    if (bucket.a.size() == bucket.b.size()) {
      for (std::size_t i = 0; i < bucket.a.size(); ++i) {
        pair({bucket.a[i]}, {bucket.b[i]}, MatchedBy::ordinal);
      }
    } else {
      pair(std::move(bucket.a), std::move(bucket.b), MatchedBy::ordinal);
    }
  }
}

// Kernel, shape, and which matched pairs stand before and after; none without any.
std::optional<std::uint64_t> OpMatcher::surroundings(const OpSide& side,
                                                     std::uint32_t group) const {
  if (!side.may_match_by_structure(group)) return std::nullopt;
  std::uint64_t hash = mixed(hash_of(side.group(group).kind), hash_of(side.group(group).shape));
  bool any = false;
  for (const auto* neighbours : {&side.groups.before(group), &side.groups.after(group)}) {
    if (neighbours->size() > max_neighbours) return std::nullopt;
    Members pairs;
    for (const std::uint32_t neighbour : *neighbours) pairs.push_back(side.pair_of[neighbour]);
    std::sort(pairs.begin(), pairs.end());
    hash = mixed(hash, 0x736964);
    for (const std::uint32_t at : pairs) hash = mixed(hash, at);
    any = any || (!pairs.empty() && pairs.front() != unmatched);
  }
  return any ? std::optional(hash) : std::nullopt;
}

// The free groups next to those of a pair.
OpMatcher::Members OpMatcher::beside(const OpSide& side, std::uint32_t pair, bool is_a) const {
  Members found;
  for (const std::uint32_t group : is_a ? pairs_[pair].a : pairs_[pair].b) {
    for (const auto* neighbours : {&side.groups.before(group), &side.groups.after(group)}) {
      if (neighbours->size() > max_neighbours) continue;
      for (const std::uint32_t neighbour : *neighbours) {
        if (side.is_free(neighbour)) found.push_back(neighbour);
      }
    }
  }
  return found;
}

// From what is matched outward: each new pair may settle its neighbours. Groups with equal
// surroundings have the same matched neighbours, so all of them are candidates at once.
void OpMatcher::match_neighbours() {
  std::size_t first_new = 0;
  while (first_new < pairs_.size()) {
    const std::size_t end = pairs_.size();
    Members candidates[2];
    for (std::size_t at = first_new; at < end; ++at) {
      for (const bool is_a : {true, false}) {
        const Members more = beside(is_a ? a_ : b_, std::uint32_t(at), is_a);
        Members& all = candidates[is_a ? 0 : 1];
        all.insert(all.end(), more.begin(), more.end());
      }
    }
    first_new = end;
    std::map<std::uint64_t, Bucket> buckets;
    for (const bool is_a : {true, false}) {
      Members& all = candidates[is_a ? 0 : 1];
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
      for (const std::uint32_t group : all) {
        const auto key = surroundings(is_a ? a_ : b_, group);
        if (key) (is_a ? buckets[*key].a : buckets[*key].b).push_back(group);
      }
    }
    for (const auto& [key, bucket] : buckets) {
      if (bucket.a.size() != bucket.b.size()) continue;
      for (std::size_t i = 0; i < bucket.a.size(); ++i) {
        pair({bucket.a[i]}, {bucket.b[i]}, MatchedBy::neighbours);
      }
    }
  }
}

// What each group looks like for four steps around (Weisfeiler and Leman's refinement).
std::vector<std::uint64_t> OpMatcher::colours(const OpSide& side) const {
  constexpr int steps = 4;
  std::vector<std::uint64_t> colour, next(side.count());
  for (const OpGroup& group : side.groups.groups()) {
    colour.push_back(mixed(hash_of(group.kind), hash_of(group.shape)));
  }
  std::vector<std::uint64_t> around;
  for (int step = 0; step < steps; ++step) {
    for (std::uint32_t group = 0; group < side.count(); ++group) {
      std::uint64_t hash = colour[group];
      for (const auto* neighbours : {&side.groups.before(group), &side.groups.after(group)}) {
        around.clear();
        for (const std::uint32_t neighbour : *neighbours) around.push_back(colour[neighbour]);
        std::sort(around.begin(), around.end());
        hash = mixed(hash, 0x736964);
        for (const std::uint64_t each : around) hash = mixed(hash, each);
      }
      next[group] = hash;
    }
    colour.swap(next);
  }
  return colour;
}

void OpMatcher::match_structure() {
  const std::vector<std::uint64_t> of_a = colours(a_), of_b = colours(b_);
  const auto key = [&](const OpSide& side, std::uint32_t at) -> std::optional<std::uint64_t> {
    const bool alone = side.groups.before(at).empty() && side.groups.after(at).empty();
    if (!side.may_match_by_structure(at) || (alone && side.group(at).shape.empty())) {
      return std::nullopt;
    }
    return (&side == &a_ ? of_a : of_b)[at];
  };
  for (const bool only_single : {true, false}) {
    for (const Bucket& bucket : buckets_by<std::uint64_t>(key)) {
      if (bucket.a.size() != bucket.b.size() || (only_single && bucket.a.size() > 1)) continue;
      for (std::size_t i = 0; i < bucket.a.size(); ++i) {
        pair({bucket.a[i]}, {bucket.b[i]}, MatchedBy::structure);
      }
    }
    match_neighbours();
  }
}

UnmatchedOp OpMatcher::explained(const OpSide& side, const OpSide& other, bool is_a,
                                 std::uint32_t group) const {
  UnmatchedOp found{group, UnmatchedReason::absent, UnmatchedOp::none};
  const auto members = [&](std::uint32_t neighbour) -> const Members* {
    const std::uint32_t at = side.pair_of[neighbour];
    if (at == unmatched) return nullptr;
    return is_a ? &pairs_[at].b : &pairs_[at].a;
  };
  const auto& before = side.groups.before(group);
  const auto& after = side.groups.after(group);
  if (before.size() > max_neighbours || after.size() > max_neighbours) return found;
  Members followers;
  for (const std::uint32_t next : after) {
    if (const Members* there = members(next)) {
      followers.insert(followers.end(), there->begin(), there->end());
    }
  }
  std::sort(followers.begin(), followers.end());
  const auto look = [&](std::uint32_t counterpart, bool forward) {
    const auto& around =
        forward ? other.groups.after(counterpart) : other.groups.before(counterpart);
    if (around.size() > max_neighbours) return;
    for (const std::uint32_t there : around) {
      if (found.reason != UnmatchedReason::perhaps_part_of && other.is_free(there)) {
        found.reason = UnmatchedReason::perhaps_part_of;
        found.other = there;
      }
      if (forward && found.reason == UnmatchedReason::absent &&
          std::binary_search(followers.begin(), followers.end(), there)) {
        found.reason = UnmatchedReason::bypassed;
        found.other = there;
      }
    }
  };
  for (const std::uint32_t previous : before) {
    if (const Members* there = members(previous)) {
      for (const std::uint32_t counterpart : *there) look(counterpart, true);
    }
  }
  for (const std::uint32_t next : after) {
    if (const Members* there = members(next)) {
      for (const std::uint32_t counterpart : *there) look(counterpart, false);
    }
  }
  return found;
}

void OpMatcher::explain(const OpSide& side, const OpSide& other, bool is_a,
                        std::vector<UnmatchedOp>& out) {
  // Names that consist of several, "conv1+relu1": which of them contain which.
  std::unordered_map<std::string_view, std::uint32_t> part_of, whole_of;
  for (std::uint32_t group = 0; group < other.count(); ++group) {
    for (const std::string_view part : name_parts(other.group(group).label)) {
      part_of.try_emplace(part, group);
    }
    if (other.is_free(group)) whole_of.try_emplace(other.group(group).label, group);
  }
  for (std::uint32_t group = 0; group < side.count(); ++group) {
    if (!side.is_free(group) || side.group(group).ops == 0) continue;
    const auto container = part_of.find(side.group(group).label);
    if (container != part_of.end()) {
      out.push_back({group, UnmatchedReason::named_in, container->second});
      continue;
    }
    std::optional<std::uint32_t> content;
    for (const std::string_view part : name_parts(side.group(group).label)) {
      const auto whole = whole_of.find(part);
      if (!content && whole != whole_of.end()) content = whole->second;
    }
    out.push_back(content ? UnmatchedOp{group, UnmatchedReason::named_in, *content}
                          : explained(side, other, is_a, group));
  }
}

OpMatching OpMatcher::finish() {
  match_tilings();
  match_names();
  match_kernels();
  match_ordinals();
  match_neighbours();
  match_structure();
  OpMatching matching;
  explain(a_, b_, true, matching.only_a);
  explain(b_, a_, false, matching.only_b);
  matching.same_structure = matching.only_a.empty() && matching.only_b.empty();
  for (const OpPair& pair : pairs_) {
    const bool same =
        pair.by == MatchedBy::name && a_.group(pair.a.front()).ops == b_.group(pair.b.front()).ops;
    matching.same_structure = matching.same_structure && same;
  }
  std::sort(pairs_.begin(), pairs_.end(),
            [](const OpPair& x, const OpPair& y) { return x.a.front() < y.a.front(); });
  matching.pairs = std::move(pairs_);
  return matching;
}

}  // namespace

OpMatching match_ops(const OpGroups& a, const OpGroups& b) { return OpMatcher(a, b).finish(); }

}  // namespace npuscope::analysis
