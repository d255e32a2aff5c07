#include "report/document/damage.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/document/provenance.hpp"

namespace npuscope::report {
namespace {

bool is_loss(const Note& note) { return note.severity == Severity::error; }

}  // namespace

bool is_damaged(const Profile& profile) {
  return std::any_of(profile.notes.begin(), profile.notes.end(), is_loss);
}

std::string damage_text(const Profile& profile) {
  const auto first = std::find_if(profile.notes.begin(), profile.notes.end(), is_loss);
  if (first == profile.notes.end()) return "";
  const auto all = std::count_if(profile.notes.begin(), profile.notes.end(), is_loss);
  return fmt::format("damaged: {}{}{}; all figures are of what could be read", first->message,
                     first->offset > 0 ? fmt::format(" (byte {})", first->offset) : "",
                     all > 1 ? fmt::format(", and {} more", all - 1) : "");
}

std::string damage_sentence(const Profile& profile) {
  if (!is_damaged(profile)) return "";
  return fmt::format("{}: {}", files_text(profile), damage_text(profile));
}

}  // namespace npuscope::report
