#include "profile/texts.hpp"

#include <limits>
#include <utility>
#include <vector>

namespace npuscope {

void compact_strings(Profile& profile) {
  constexpr StringId not_yet{std::numeric_limits<std::uint32_t>::max()};
  StringPool strings;
  std::vector<StringId> ids(profile.strings.size(), not_yet);
  ids[0] = StringId::empty;
  visit_texts(profile, [&](StringId& id, TextRole) {
    StringId& renamed = ids[std::uint32_t(id)];
    if (renamed == not_yet) renamed = strings.intern(profile.strings[id]);
    id = renamed;
  });
  profile.strings = std::move(strings);
}

}  // namespace npuscope
