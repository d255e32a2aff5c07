#include "analysis/ops/op_owners.hpp"

#include <string_view>
#include <unordered_map>

namespace npuscope::analysis {

OpOwners owners_of(const Profile& profile, bool as_written) {
  constexpr std::string_view reshape = "_post_reshape";
  OpOwners owners;
  owners.nodes.reserve(profile.ops.size());
  std::unordered_map<std::string_view, StringId> known;
  bool any = false;
  for (const Op& op : profile.ops) {
    owners.nodes.push_back(op.node);
    any = any || (op.engine == Engine::hmx && profile.text(op.node).ends_with(reshape));
  }
  if (!any || as_written) return owners;
  for (const Op& op : profile.ops) known.emplace(profile.text(op.node), op.node);
  for (std::size_t i = 0; i < profile.ops.size(); ++i) {
    const std::string_view node = profile.text(profile.ops[i].node);
    if (profile.ops[i].engine != Engine::hmx || !node.ends_with(reshape)) continue;
    const auto before = known.find(node.substr(0, node.size() - reshape.size()));
    if (before == known.end() || before->second == StringId::empty) continue;
    owners.nodes[i] = before->second;
    owners.moved += 1;
  }
  return owners;
}

}  // namespace npuscope::analysis
