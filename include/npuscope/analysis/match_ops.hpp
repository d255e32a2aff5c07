// Which operations of one compiled graph are which of another.
//
//   const OpGroups a(before), b(after);
//   const OpMatching matching = match_ops(a, b);
//   matching.pairs[0]     // {a: {3}, b: {5}, by: MatchedBy::name}
//   matching.only_b[0]    // {group: 9, reason: perhaps_part_of, other: 4}: new, and why perhaps
//
// Ops of one model node (or name) and kernel are one group: a kernel's tiles and threads differ
// between compiles, the node does not. Groups are matched in this order, each once:
//   name        same node and kernel
//   kernel      same node, another kernel, and no other candidate
//   ordinal     same but for the numbers that compilers append ("n165/__0", "MatMul:OpId_18",
//               "x_token_3"); several may stand against several when tiling changed
//   neighbours  another name; same kernel and shape between the same matched neighbours
//   structure   another name; same kernel and shape, and alike for four steps around
// Where the ops of both sides have identities (Op::identity), these take the place of names: a name
// with a line of the source in it is another after each edit of the source.
// Of those that equal one another the first is matched with the first, where both sides have as
// many. What is left is only in A or only in B, with what its neighbours suggest.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "npuscope/profile/run_numbers.hpp"

namespace npuscope::analysis {

// The groups of a profile in the order of their first ops, and which of them feed which.
class OpGroups {
 public:
  explicit OpGroups(const Profile& profile);  // of its numbers, where it is of a snapshot

  const std::vector<OpGroup>& groups() const { return groups_; }
  // Spans without an op (and any op that does not exist) are a last group without name and ops.
  std::uint32_t of(OpId op) const {
    return index_of(op) < of_op_.size() ? of_op_[index_of(op)] : std::uint32_t(groups_.size() - 1);
  }
  bool has_identities() const { return has_identities_; }
  const std::vector<std::uint32_t>& before(std::uint32_t group) const { return before_[group]; }
  const std::vector<std::uint32_t>& after(std::uint32_t group) const { return after_[group]; }

 private:
  void connect(const Profile& profile);

  std::vector<OpGroup> groups_;
  bool has_identities_ = false;
  std::vector<std::uint32_t> of_op_;
  std::vector<std::vector<std::uint32_t>> before_, after_;  // sorted, each once, none itself
};

enum class MatchedBy : std::uint8_t { name, kernel, ordinal, neighbours, structure };
const char* name_of(MatchedBy by);

struct OpPair {
  std::vector<std::uint32_t> a, b;  // groups; more than one only by ordinal
  MatchedBy by = MatchedBy::name;
};

enum class UnmatchedReason : std::uint8_t {
  absent,           // nothing like it on the other side
  named_in,         // its name is a part of the other's: fused, or split
  perhaps_part_of,  // stands where the other side has another op that is unmatched too
  bypassed,         // its neighbours are joined directly there: folded into one of them, or dropped
};

struct UnmatchedOp {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t group = 0;
  UnmatchedReason reason = UnmatchedReason::absent;
  std::uint32_t other = none;  // group of the other side
};

struct OpMatching {
  std::vector<OpPair> pairs;                // in the order of A
  std::vector<UnmatchedOp> only_a, only_b;  // in their own order
  // The same groups of as many ops each: as far as a profile shows, one compile.
  bool same_structure = false;
};

OpMatching match_ops(const OpGroups& a, const OpGroups& b);

}  // namespace npuscope::analysis
