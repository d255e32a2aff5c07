// The operators of a trace: each is met as waits, kernels and transfers, perhaps of many
// inferences, and is told apart by its group's queue, its number there (oc) and its name. The first
// row that describes it fills it in; what later rows say otherwise stays with those.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/qaic/opstats/opstats_arguments.hpp"
#include "formats/qaic/opstats/opstats_tracks.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::qaic {

struct OpKey {
  std::uint32_t group = 0;
  StringId name{};
  StringId kernel{};  // empty where number or name tell ops apart
  std::int64_t number = no_number;
  bool operator==(const OpKey&) const = default;

  static constexpr std::int64_t no_number = -1;
};

class OpstatsOps {
 public:
  static constexpr std::uint32_t undescribed = 0xffffffff;

  OpstatsOps(Profile& profile, const std::vector<ArgumentPlan>& plans, const Arguments& arguments)
      : profile_(profile),
        plans_(plans),
        arguments_(arguments),
        room_(4 * arguments.size() + first_slots),
        slots_(first_slots) {}

  // The op of that key; a new one when there is none.
  OpId find_or_add(const OpKey& key);
  // As above for a row that says which kernel it is: ops that share number and name but not the
  // kernel are different ones.
  OpId find_or_add(OpKey key, StringId kernel);
  bool has_number(OpId op) const { return keys_[index_of(op)].number != OpKey::no_number; }
  bool is_described(OpId op) const { return described_by_[index_of(op)] != undescribed; }
  void describe(OpId op, std::size_t row);
  // Where the arguments of one shape are in another: of the last two shapes that were compared.
  struct PlacesInShape {
    std::uint32_t shape = undescribed;
    std::uint32_t other = undescribed;
    std::vector<std::uint32_t> places;
  };
  // Whether the row, with these arguments, says of its op at that place what a describing row that
  // does not come after it says. `known` is reused from row to row.
  bool agrees(OpId op, std::size_t row, const ArgumentRow& own, std::uint32_t place,
              PlacesInShape& known) const;

  // Sorts the ops by group, number and first appearance; returns each one's new id.
  std::vector<OpId> sort(const std::vector<OpstatsGroup>& groups);

 private:
  static constexpr std::size_t first_slots = 1024;

  OpId add(const OpKey& key);
  OpId* numbered(const OpKey& key);
  void describe_operands(Op& op, std::size_t row);
  std::size_t slot_of(const OpKey& key) const;
  void grow();
  void find_places(std::uint32_t shape, std::uint32_t other, PlacesInShape& known) const;

  Profile& profile_;
  const std::vector<ArgumentPlan>& plans_;
  const Arguments& arguments_;
  std::vector<OpKey> keys_;                  // of each op
  std::vector<std::uint32_t> described_by_;  // row
  // The first op of each number, by group. Numbers too high for the room that is left, and later
  // ops of a number, are in the slots.
  std::vector<std::vector<OpId>> by_number_;
  std::size_t room_;
  std::vector<std::uint32_t> slots_;  // op + 1; open addressing
  std::size_t hashed_ = 0;
  StringId last_types_{};
  std::string operands_;  // reused
};

}  // namespace npuscope::qaic
