#include "query/source.hpp"

#include <map>

namespace npuscope::query {

Source::Source(const Profile& with) : profile(with), analysis_(with) {
  const char* names[] = {"ddr read bytes", "ddr write bytes", "vtcm read bytes",
                         "vtcm write bytes"};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    const auto id = profile.strings.find(names[i]);
    if (id) traffic_[i] = profile.spans.measure(*id);
  }
}

const StringPool& Source::paths() const {
  if (!paths_) {
    StringPool paths;
    path_ids_.clear();
    for (std::uint32_t i = 0; i < profile.units.size(); ++i) {
      path_ids_.push_back(paths.intern(analysis::path_of(profile, UnitId(i))));
    }
    paths_ = std::move(paths);
  }
  return *paths_;
}

const std::vector<StringId>& Source::path_ids() const {
  if (!paths_) paths();
  return path_ids_;
}

const std::vector<ArgumentKey>& Source::argument_keys() const {
  if (argument_keys_) return *argument_keys_;
  const Arguments& arguments = profile.spans.arguments;
  std::vector<ArgumentKey> keys;
  keys_of_shape_.clear();
  if (arguments.shape.size() == profile.spans.size() && !arguments.empty()) {
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

}  // namespace npuscope::query
