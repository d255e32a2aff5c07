#include "report/document/scope.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace npuscope::report {
namespace {

// Instances that spans name; 0 where they name none.
std::size_t inferences_of(const Profile& profile) {
  const Spans& spans = profile.spans;
  if (spans.instance.size() != spans.size()) return 0;
  constexpr std::size_t many = 1 << 16;
  std::vector<std::uint32_t> ids;
  std::uint32_t last = every_instance;
  const auto tidy = [&] {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  };
  for (const std::uint32_t id : spans.instance) {
    if (id != last && id != every_instance) ids.push_back(id);
    last = id;
    if (ids.size() < 2 * many) continue;
    tidy();
    if (ids.size() > many) return 0;  // these are no inferences
  }
  tidy();
  return ids.size();
}

}  // namespace

std::string scope_of_all(const Profile& profile) { return scope_of_all(inferences_of(profile)); }

std::string scope_of_all(std::size_t inferences) {
  return inferences < 2 ? "" : fmt::format("all {} inferences together", inferences);
}

std::string scope_of_each(const Profile& profile) {
  const std::size_t count = inferences_of(profile);
  return count < 2 ? "" : scope_of_median(count - 1, true);
}

std::string scope_of_median(std::size_t inferences, bool after_the_first) {
  return fmt::format("one inference: the median of the {}{}", inferences,
                     after_the_first ? " after the first" : "");
}

std::string scope_of_one(const Profile& profile, std::uint32_t inference) {
  const std::size_t count = inferences_of(profile);
  if (count < 2) return "";
  return fmt::format("one inference: number {} of {}, counted from 0", inference, count);
}

}  // namespace npuscope::report
