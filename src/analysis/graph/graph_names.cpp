// Finding ops by what a user wrote.
#include <algorithm>

#include "analysis/graph/graph_paths.hpp"
#include "base/near_names.hpp"
#include "npuscope/base/pattern.hpp"

namespace npuscope::analysis {
namespace {

std::vector<StringId> distinct_names(const Profile& profile) {
  std::vector<std::uint8_t> seen(profile.strings.size(), 0);
  std::vector<StringId> names;
  for (const Op& op : profile.ops) {
    for (const StringId name : {op.name, op.node}) {
      if (name == StringId::empty || seen[std::uint32_t(name)]) continue;
      seen[std::uint32_t(name)] = 1;
      names.push_back(name);
    }
  }
  return names;
}

std::string names_like(const Profile& profile, std::string_view text) {
  std::vector<StringId> ids = distinct_names(profile);
  std::sort(ids.begin(), ids.end());  // of equally near ones the first by id
  std::vector<std::string_view> names;
  for (const StringId id : ids) names.push_back(profile.text(id));
  return nearest_names(names, text);
}

}  // namespace

Result<std::vector<OpId>> find_ops(const Profile& profile, std::string_view where,
                                   std::string_view text) {
  std::vector<OpId> found;
  const auto collect = [&](const auto& fits) {
    for (std::uint32_t i = 0; i < profile.ops.size(); ++i) {
      if (fits(profile.ops[i])) found.push_back(OpId(i));
    }
  };
  if (const auto name = profile.strings.find(text); name && *name != StringId::empty) {
    collect([&](const Op& op) { return op.name == *name; });
    if (found.empty()) collect([&](const Op& op) { return op.node == *name; });
  }
  if (!found.empty()) return found;
  const auto pattern = Pattern::compile(where, text);
  if (!pattern) return tl::unexpected(pattern.error());
  std::vector<std::int8_t> answer(profile.strings.size(), -1);  // by string: -1 not tried
  const auto matches = [&](StringId id) {
    std::int8_t& known = answer[std::uint32_t(id)];
    if (known < 0) known = pattern->found_in(profile.text(id));
    return known != 0;
  };
  collect([&](const Op& op) { return matches(op.name) || matches(op.kind) || matches(op.node); });
  if (!found.empty()) return found;
  if (profile.ops.empty()) return usage_error("{}: the profile has no ops", where);
  return usage_error("{}: no op's name, kind or node is or matches '{}'; the nearest names: {}",
                     where, text, names_like(profile, text));
}

}  // namespace npuscope::analysis
