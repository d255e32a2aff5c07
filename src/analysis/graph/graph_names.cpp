// Finding ops by what a user wrote.
#include <algorithm>
#include <numeric>

#include "npuscope/analysis/graph_paths.hpp"
#include "npuscope/base/pattern.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::size_t longest_compared = 200;
constexpr std::size_t most_compared = 20'000;
constexpr std::size_t most_names = 3;

// Edits that turn one text into the other.
std::size_t distance_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

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
  struct Near {
    std::size_t distance = 0;
    StringId name{};
  };
  std::vector<Near> near;
  std::vector<StringId> names = distinct_names(profile);
  if (names.size() > most_compared) names.resize(most_compared);
  for (const StringId id : names) {
    const std::string_view name = profile.text(id).substr(0, longest_compared);
    near.push_back({distance_between(text.substr(0, longest_compared), name), id});
  }
  const auto last = near.begin() + std::ptrdiff_t(std::min(most_names, near.size()));
  std::partial_sort(near.begin(), last, near.end(), [](const Near& a, const Near& b) {
    return std::pair(a.distance, a.name) < std::pair(b.distance, b.name);
  });
  std::string list;
  for (auto it = near.begin(); it != last; ++it) {
    list += fmt::format("{}'{}'", list.empty() ? "" : ", ", profile.text(it->name));
  }
  return list;
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
