#include "profile/scrub_names.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/text.hpp"
#include "profile/texts.hpp"

namespace npuscope {

std::string NameScrubber::stand_in(Stand& stand, std::string_view name) {
  if (name.empty()) return {};
  const auto found = stand.names.find(name);
  if (found != stand.names.end()) return found->second;
  std::string made = stand.sort + std::to_string(stand.names.size() + 1);
  return stand.names.emplace(std::string(name), std::move(made)).first->second;
}

// With the ending that says what a file is.
std::string NameScrubber::file_of(const std::string& file) {
  if (file.empty()) return {};
  constexpr std::size_t max_ending = 6;
  std::string ending = std::filesystem::path(file).extension().string();
  const bool is_plain =
      ending.size() <= max_ending &&
      std::all_of(ending.begin(), ending.end(), [](char c) { return c == '.' || is_letter(c); });
  return stand_in(files_, file) + (is_plain ? ending : "");
}

void NameScrubber::scrub(Profile& profile) {
  StringPool strings;
  // An op's name may be a tensor's or a node's too: one stand-in for one text.
  const auto name_of = [&](std::string_view name, Stand& first) {
    Stand& other = &first == &names_ ? tensors_ : names_;
    return stand_in(other.names.contains(name) ? other : first, name);
  };
  visit_texts(profile, [&](StringId& id, TextRole role) {
    const std::string_view text = profile.strings[id];
    switch (role) {
      case TextRole::vocabulary: id = strings.intern(text); break;
      case TextRole::op: id = strings.intern(name_of(text, names_)); break;
      case TextRole::tensor: id = strings.intern(name_of(text, tensors_)); break;
      case TextRole::process: id = strings.intern(stand_in(processes_, text)); break;
      case TextRole::words: id = StringId::empty; break;
      case TextRole::json: id = strings.intern("null"); break;
    }
  });
  profile.strings = std::move(strings);
  profile.numbers.reset();
  Provenance& from = profile.provenance;
  for (std::string& file : from.files) file = file_of(file);
  from.graph = stand_in(graphs_, from.graph);
  for (Check& check : profile.checks) check.detail.clear();
  for (Note& note : profile.notes) {
    note.file = file_of(note.file);
    note.message = "its words are left out, as they may hold names";
  }
}

}  // namespace npuscope
