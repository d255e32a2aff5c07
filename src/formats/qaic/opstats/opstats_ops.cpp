#include "formats/qaic/opstats/opstats_ops.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/sort_rows.hpp"

namespace npuscope::qaic {
namespace {

std::uint64_t hash_of(const OpKey& key) {
  std::uint64_t hash = std::uint64_t(key.number) * 0x9E3779B97F4A7C15u;
  hash ^= std::uint64_t(key.group) << 32 | std::uint32_t(key.name);
  hash *= 0xD6E8FEB86659FD93u;
  hash ^= hash >> 32;
  hash = (hash ^ std::uint32_t(key.kernel)) * 0xD6E8FEB86659FD93u;
  return hash ^ hash >> 29;
}

std::string_view take_last_word(std::string_view& text) {
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  const auto blank = text.rfind(' ');
  const std::string_view word = text.substr(blank == text.npos ? 0 : blank + 1);
  text = text.substr(0, text.size() - word.size());
  return word;
}

// The element type of an operand: what stands before its shape, "<1 x 32> 1KB" or "1 x 32 1KB".
std::string_view type_of(std::string_view operand) {
  if (const auto shape = operand.rfind('<'); shape != operand.npos) {
    operand = operand.substr(0, shape);
    return take_last_word(operand);
  }
  take_last_word(operand);  // the size
  std::string_view word;
  do {
    word = take_last_word(operand);
  } while (word == "x" || (!word.empty() && word.find_first_not_of("0123456789") == word.npos));
  return word;
}

// "x@float16, y@i8" of SDK 1.10: all operands in one.
bool is_list(std::string_view operand) { return operand.find('@') != operand.npos; }

class Types {
 public:
  void add_operand(std::string_view operand) {
    if (!is_list(operand)) return add(type_of(operand));
    for (auto at = operand.find('@'); at != operand.npos; at = operand.find('@', at + 1)) {
      add(operand.substr(at + 1, operand.find_first_of(", ", at) - at - 1));
    }
  }
  const std::string& text() const { return text_; }

 private:
  void add(std::string_view type) {
    if (type.empty()) return;
    for (std::string_view rest = text_; !rest.empty();) {
      const auto end = std::min(rest.find(", "), rest.size());
      if (rest.substr(0, end) == type) return;
      rest.remove_prefix(std::min(end + 2, rest.size()));
    }
    if (!text_.empty()) text_ += ", ";
    text_ += type;
  }

  std::string text_;
};

}  // namespace

std::size_t OpstatsOps::slot_of(const OpKey& key) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_of(key) & mask;
  while (slots_[slot] != 0 && !(keys_[slots_[slot] - 1] == key)) slot = (slot + 1) & mask;
  return slot;
}

void OpstatsOps::grow() {
  std::vector<std::uint32_t> old(slots_.size() * 2, 0);
  old.swap(slots_);
  for (const std::uint32_t op : old) {
    if (op != 0) slots_[slot_of(keys_[op - 1])] = op;
  }
}

// Where the first op of a group's number is kept; null when there is no room for so high a number.
OpId* OpstatsOps::numbered(const OpKey& key) {
  if (key.number == OpKey::no_number || key.kernel != StringId::empty) return nullptr;
  if (key.group >= by_number_.size()) by_number_.resize(key.group + 1);
  std::vector<OpId>& ops = by_number_[key.group];
  const auto number = std::uint64_t(key.number);
  if (number >= ops.size()) {
    if (number >= ops.size() + room_) return nullptr;
    const std::size_t more =
        std::min(room_, std::max<std::size_t>(number + 1, 2 * ops.size()) - ops.size());
    room_ -= more;
    ops.resize(ops.size() + more, OpId::none);
  }
  return &ops[number];
}

OpId OpstatsOps::find_or_add(const OpKey& key) {
  OpId* const first = numbered(key);
  if (first != nullptr) {
    if (*first == OpId::none) return *first = add(key);
    if (keys_[index_of(*first)] == key) return *first;
  }
  const std::size_t slot = slot_of(key);
  if (slots_[slot] != 0) return OpId(slots_[slot] - 1);
  const OpId op = add(key);
  slots_[slot] = index_of(op) + 1;
  hashed_ += 1;
  if (hashed_ * 2 > slots_.size()) grow();
  return op;
}

OpId OpstatsOps::add(const OpKey& key) {
  Op op;
  op.name = key.name;
  op.kind = key.kernel;
  op.group = key.group;
  op.id = std::uint64_t(std::max<std::int64_t>(key.number, 0));
  profile_.ops.push_back(op);
  keys_.push_back(key);
  described_by_.push_back(undescribed);
  return OpId(keys_.size() - 1);
}

OpId OpstatsOps::find_or_add(OpKey key, StringId kernel) {
  const OpId op = find_or_add(key);
  StringId& kind = profile_.ops[index_of(op)].kind;
  if (kind == StringId::empty) kind = kernel;
  if (kind == kernel) return op;
  key.kernel = kernel;
  return find_or_add(key);
}

void OpstatsOps::describe(OpId id, std::size_t row) {
  const ArgumentPlan& plan = plans_[arguments_.shape(row)];
  const ArgumentValues values(arguments_, row, profile_.strings);
  const auto text = [&](ArgumentRole role) {
    return values.text_id(plan.place[std::size_t(role)]).value_or(StringId::empty);
  };
  Op& op = profile_.ops[index_of(id)];
  op.memory = text(ArgumentRole::memory);
  op.attributes = text(ArgumentRole::attributes);
  op.shape = text(ArgumentRole::op_shape);
  const auto size = values.integer(plan.place[std::size_t(ArgumentRole::output_size)]);
  op.output = Bytes{std::max<std::int64_t>(size.value_or(0), 0)};
  described_by_[index_of(id)] = std::uint32_t(row);
  if (plan.has(ArgumentRole::operand)) describe_operands(op, row);
}

// One operand a line; a single one is the text that is there already.
void OpstatsOps::describe_operands(Op& op, std::size_t row) {
  const ArgumentPlan& plan = plans_[arguments_.shape(row)];
  const ArgumentValues values(arguments_, row, profile_.strings);
  StringId only{};
  operands_.clear();
  Types types;
  for (std::uint32_t place = 0; place < plan.roles.size(); ++place) {
    if (plan.roles[place] != ArgumentRole::operand) continue;
    const auto operand = values.text_id(place);
    if (!operand) continue;
    only = operands_.empty() ? *operand : StringId::empty;
    if (!operands_.empty()) operands_ += '\n';
    operands_ += profile_.strings[*operand];
    types.add_operand(profile_.strings[*operand]);
  }
  op.operands = only != StringId::empty ? only : profile_.strings.intern(operands_);
  if (profile_.strings[last_types_] != types.text()) {
    last_types_ = profile_.strings.intern(types.text());
  }
  op.types = last_types_;
}

void OpstatsOps::find_places(std::uint32_t shape, std::uint32_t other, PlacesInShape& known) const {
  known.shape = shape;
  known.other = other;
  known.places.clear();
  const ArgumentShape& theirs = arguments_.shapes[other];
  for (const ArgumentKey& key : arguments_.shapes[shape]) {
    const auto found = std::find(theirs.begin(), theirs.end(), key);
    known.places.push_back(found == theirs.end() ? ArgumentPlan::nowhere
                                                 : std::uint32_t(found - theirs.begin()));
  }
}

bool OpstatsOps::agrees(OpId op, std::size_t row, const ArgumentRow& own, std::uint32_t place,
                        PlacesInShape& known) const {
  const std::uint32_t describing = described_by_[index_of(op)];
  const ArgumentKey& key = arguments_.shapes[own.shape()][place];
  const bool understood = key.type == ArgumentType::text || key.type == ArgumentType::integer;
  if (describing == row) return understood;
  if (describing > row) return false;  // or there is none
  const ArgumentRow other = arguments_.row(describing);
  if (own.shape() != known.shape || other.shape() != known.other) {
    find_places(own.shape(), other.shape(), known);
  }
  const std::uint32_t there = known.places[place];
  return there != ArgumentPlan::nowhere && understood && own.bits(place) == other.bits(there);
}

std::vector<OpId> OpstatsOps::sort(const std::vector<OpstatsGroup>& groups) {
  const std::size_t count = keys_.size();
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    if (keys_[a].group != keys_[b].group) return keys_[a].group < keys_[b].group;
    return keys_[a].number < keys_[b].number;
  };
  if (!std::is_sorted(order.begin(), order.end(), before)) {
    sort_rows(order.begin(), order.end(), before);
  }
  std::vector<OpId> renamed(count);
  std::vector<Op> sorted;
  sorted.reserve(count);
  std::uint32_t position = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Op op = profile_.ops[order[i]];
    position = i > 0 && keys_[order[i - 1]].group == keys_[order[i]].group ? position + 1 : 0;
    const OpstatsGroup& group = groups[op.group];
    op.core = group.core;
    op.group = group.number;
    op.position = position;
    renamed[order[i]] = OpId(i);
    sorted.push_back(op);
  }
  profile_.ops = std::move(sorted);
  return renamed;
}

}  // namespace npuscope::qaic
