// What `npuscope convert` says of the files that it wrote.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "npuscope/profile/losses.hpp"
#include "npuscope/profile/profile.hpp"
#include "report/selection.hpp"

namespace npuscope::report {

struct ConvertedFile {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
};

struct Converted {
  std::vector<ConvertedFile> files;
  Losses losses;  // summed over the profiles
};

std::string converted_text(const Converted& converted);
// `selection`: what part of the profiles was asked for.
std::string converted_json(const Converted& converted, std::span<const Note> notes,
                           const Selection& selection);

}  // namespace npuscope::report
