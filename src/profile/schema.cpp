#include "profile/schema.hpp"

#include <fmt/format.h>

#include <array>
#include <map>

#include "profile/names.hpp"

namespace npuscope::schema {
namespace {

constexpr std::size_t fact_count = std::tuple_size_v<decltype(facts())>;

std::string text_of_fact(int number) { return fmt::format("{}", number); }
std::string text_of_fact(Provenance::Temperature value) { return stable_name(value); }
template <class Value>
std::optional<std::string> text_of_fact(const std::optional<Value>& value) {
  return value ? std::optional(fmt::format("{}", *value)) : std::nullopt;
}

using TextOf = std::optional<std::string> (*)(const Profile&);
template <std::size_t place>
std::optional<std::string> text_of_fact_at(const Profile& profile) {
  return text_of_fact(std::get<place>(facts()).get(profile));
}

struct FactRow {
  const char* name;
  TextOf text;
};
constexpr auto fact_rows = []<std::size_t... places>(std::index_sequence<places...>) {
  return std::array<FactRow, fact_count>{
      FactRow{std::get<places>(facts()).name, text_of_fact_at<places>}...};
}(std::make_index_sequence<fact_count>{});

}  // namespace

std::string_view fact_name(Row row) { return fact_rows[row].name; }
std::optional<std::string> fact_text(const Profile& profile, Row row) {
  return fact_rows[row].text(profile);
}

std::optional<std::string_view> subject_name(const Source& source, Row row) {
  const Profile& profile = source.profile;
  const Measure& measure = profile.measures[row];
  const std::uint32_t id = measure.subject_id;
  if (measure.subject == Measure::Subject::unit && id < profile.units.size()) {
    return source.paths()[StringId(index_of(source.path_of(id)))];
  }
  if (measure.subject == Measure::Subject::op && id < profile.ops.size()) {
    return source.text(profile.ops[id].name);
  }
  if (measure.subject == Measure::Subject::phase && id < profile.phases.size()) {
    return source.text(profile.phases[id].name);
  }
  return std::nullopt;
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
