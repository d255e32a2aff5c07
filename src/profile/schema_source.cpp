#include <map>

#include "base/text.hpp"
#include "npuscope/profile/unit_path.hpp"
#include "profile/schema_table.hpp"

namespace npuscope::schema {

std::string_view Source::in_utf8(std::string_view text) const {
  const std::string valid = valid_utf8(text);
  return valid == text ? text : kept(valid);
}

const StringPool& Source::paths() const {
  if (!paths_) {
    StringPool paths;
    path_ids_.clear();
    for (std::uint32_t i = 0; i < profile.units.size(); ++i) {
      path_ids_.push_back(PathId(index_of(paths.intern(npuscope::path_of(profile, UnitId(i))))));
    }
    paths_ = std::move(paths);
  }
  return *paths_;
}

const std::vector<ArgumentKey>& Source::argument_keys() const {
  if (argument_keys_) return *argument_keys_;
  const Arguments& arguments = profile.spans.arguments;
  std::vector<ArgumentKey> keys;
  keys_of_shape_.clear();
  if (arguments.size() == profile.spans.size() && !arguments.empty()) {
    std::map<std::pair<StringId, ArgumentType>, std::uint32_t> known;
    for (const ArgumentShape& shape : arguments.shapes) {
      auto& places = keys_of_shape_.emplace_back();
      for (const ArgumentKey& key : shape) {
        const auto [place, is_new] =
            known.try_emplace({key.name, key.type}, std::uint32_t(keys.size()));
        places.push_back(place->second);
        if (is_new) keys.push_back(key);
      }
    }
  }
  argument_keys_ = std::move(keys);
  return *argument_keys_;
}

const std::vector<std::uint32_t>& Source::keys_of_shape(std::uint32_t shape) const {
  argument_keys();
  return keys_of_shape_[shape];
}

}  // namespace npuscope::schema
