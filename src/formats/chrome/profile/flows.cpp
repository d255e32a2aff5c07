#include "formats/chrome/profile/flows.hpp"

#include <algorithm>
#include <optional>

#include "formats/chrome/numbering.hpp"

namespace npuscope::chrome {
namespace {

using Role = FlowPoint::Role;
using Binding = FlowPoint::Binding;

std::optional<Role> role_of(char phase) {
  switch (phase) {
    case 's': return Role::begins;
    case 't': return Role::steps;
    case 'f': return Role::arrives;
    default: return std::nullopt;
  }
}

RowsByTrack rows_of(const std::vector<bool>& threads, const Slices& slices,
                    const std::vector<std::uint32_t>& order) {
  RowsByTrack rows(threads.size());
  for (std::uint32_t place = 0; place < slices.size(); ++place) {
    const std::uint32_t row = order.empty() ? place : order[place];
    if (threads[slices.thread[row]]) rows[slices.thread[row]].push_back(row);
  }
  return rows;
}

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
std::vector<FlowPoint> bound_slices(const Slices& slices, const StringPool& strings) {
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
  std::vector<FlowPoint> found;
  if (!any) return found;
  const auto in_key = strings.find("flow_in"), out_key = strings.find("flow_out");
  PairTable ids;
  for (std::uint32_t row = 0; row < slices.size(); ++row) {
    if (!has_key[arguments.shape(row)]) continue;
    const auto id = arguments.find(row, *key);
    const bool in = in_key && is_true(arguments.find(row, *in_key), strings);
    const bool out = out_key && is_true(arguments.find(row, *out_key), strings);
    if (!in && !out) continue;
    const bool is_text = id->key.type == ArgumentType::text;
    const std::uint32_t of_type = is_text ? ~std::uint32_t{0} : std::uint32_t(id->bits >> 32);
    found.push_back({.time = slices.start[row],
                     .key = ids.intern(of_type, std::uint32_t(id->bits)),
                     .at = row,
                     .role = !in   ? Role::begins
                             : out ? Role::passes
                                   : Role::arrives});
  }
  return found;
}

}  // namespace

JoinedFlows connect_flows(const Slices& slices, const Marks& marks, std::size_t threads,
                          const std::vector<std::uint32_t>& order) {
  std::vector<FlowPoint> points;
  std::vector<bool> has_points(threads);
  PairTable keys;  // category and id
  for (std::uint32_t i = 0; i < marks.size(); ++i) {
    const std::optional<Role> role = role_of(marks.phase[i]);
    if (!role) continue;
    const bool to_next = role == Role::arrives && marks.binding[i] != 'e';
    points.push_back(
        {.time = marks.time[i],
         .key = keys.intern(std::uint32_t(marks.category[i]), std::uint32_t(marks.id[i])),
         .at = marks.thread[i],
         .rows_before = marks.slices_before[i],
         .role = *role,
         .binding = to_next ? Binding::next : Binding::enclosing,
         .name = marks.name[i],
         .category = marks.category[i]});
    has_points[marks.thread[i]] = true;
  }
  if (points.empty()) return {};
  return join_flows(std::move(points), {slices.start, slices.duration},
                    rows_of(has_points, slices, order));
}

JoinedFlows connect_bound_flows(const Slices& slices, const StringPool& strings) {
  return join_flows(bound_slices(slices, strings));
}

}  // namespace npuscope::chrome
