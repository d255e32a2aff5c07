#include "analysis/profile_content.hpp"

#include <algorithm>

#include "analysis/latency.hpp"

namespace npuscope::analysis {

ProfileContent content_of(const Profile& profile) {
  if (profile.numbers) return profile.numbers->content;
  const Spans& spans = profile.spans;
  const bool says_which = spans.instance.size() == spans.size();
  const bool is_one =
      !says_which || std::all_of(spans.instance.begin(), spans.instance.end(),
                                 [&](std::uint32_t id) { return id == spans.instance.front(); });
  const bool is_of_calls = profile.ops.empty() || !analyse_latency(profile).rows.empty();
  return {profile.ops.size(), profile.edges.size(), spans.size() > 0, is_one, is_of_calls};
}

}  // namespace npuscope::analysis
