#include "formats/chrome/profile/bound_flows.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "formats/chrome/pair_table.hpp"

namespace npuscope::chrome {
namespace {

struct BoundSlice {
  std::uint32_t row = 0;
  std::uint32_t id = 0;
  bool in = false, out = false;
};

bool is_true(const std::optional<Argument>& argument, const StringPool& strings) {
  if (!argument) return false;
  switch (argument->key.type) {
    case ArgumentType::boolean: return argument->boolean();
    case ArgumentType::text: return strings[argument->text()] == "true";
    case ArgumentType::integer: return argument->integer() != 0;
    default: return false;
  }
}

// Slices of shapes that have the key, which are few where there are no such flows.
std::vector<BoundSlice> bound_slices(const Slices& slices, const StringPool& strings) {
  const Arguments& arguments = slices.arguments;
  const auto key = strings.find("bind_id");
  if (!key || arguments.empty()) return {};
  std::vector<bool> has_key(arguments.shapes.size());
  bool any = false;
  for (std::size_t shape = 0; shape < has_key.size(); ++shape) {
    const ArgumentShape& keys = arguments.shapes[shape];
    has_key[shape] =
        std::any_of(keys.begin(), keys.end(), [&](const auto& each) { return each.name == *key; });
    any = any || has_key[shape];
  }
  std::vector<BoundSlice> found;
  if (!any) return found;
  const auto in = strings.find("flow_in"), out = strings.find("flow_out");
  PairTable ids;
  for (std::size_t row = 0; row < slices.size(); ++row) {
    if (!has_key[arguments.shape(row)]) continue;
    const auto id = arguments.find(row, *key);
    BoundSlice slice{std::uint32_t(row), 0, in && is_true(arguments.find(row, *in), strings),
                     out && is_true(arguments.find(row, *out), strings)};
    if (!slice.in && !slice.out) continue;
    const bool is_text = id->key.type == ArgumentType::text;
    slice.id = ids.intern(is_text ? ~std::uint32_t{0} : std::uint32_t(id->bits >> 32),
                          std::uint32_t(id->bits));
    found.push_back(slice);
  }
  return found;
}

}  // namespace

BoundFlows connect_bound_flows(const Slices& slices, const StringPool& strings) {
  std::vector<BoundSlice> bound = bound_slices(slices, strings);
  std::stable_sort(bound.begin(), bound.end(), [&](const BoundSlice& a, const BoundSlice& b) {
    return std::tuple(a.id, slices.start[a.row]) < std::tuple(b.id, slices.start[b.row]);
  });
  BoundFlows result;
  const BoundSlice* from = nullptr;
  bool is_used = true;  // whether anything was reached from there
  for (const BoundSlice& slice : bound) {
    if (from != nullptr && from->id != slice.id) {
      result.unpaired += is_used ? 0 : 1;
      from = nullptr;
    }
    if (slice.in && from == nullptr) ++result.unpaired;
    if (slice.in && from != nullptr) {
      result.flows.push_back({SpanId(from->row), SpanId(slice.row), EdgeKind::flow, {}, {}});
      is_used = true;
    }
    if (!slice.out) continue;
    if (!slice.in && from != nullptr && !is_used) ++result.unpaired;
    from = &slice;
    is_used = false;
  }
  if (from != nullptr && !is_used) ++result.unpaired;
  return result;
}

}  // namespace npuscope::chrome
