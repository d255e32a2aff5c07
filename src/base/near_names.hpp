// The names that are nearest to one that is not there, for error messages.
//
//   nearest_names({"wall", "work", "idle"}, "wal")   // "'wall', 'work', 'idle'"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope {

// Up to `max`, quoted: those that contain the text, then by the number of edits, each in their
// order.
std::string nearest_names(const std::vector<std::string_view>& names, std::string_view text,
                          std::size_t max = 3);

// The nearest, where no more than three letters are wrong, and no more than half.
std::optional<std::string_view> likely_name(const std::vector<std::string_view>& names,
                                            std::string_view text);

// " (did you mean 'work'?)", or nothing: what an error says after the name that it refuses.
std::string did_you_mean(const std::vector<std::string_view>& names, std::string_view text);
// The same of a list as errors have it: "wall, work, idle".
std::string did_you_mean(std::string_view list, std::string_view text);

}  // namespace npuscope
