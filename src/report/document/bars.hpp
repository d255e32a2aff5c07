// Shares as pictures of one line.
//
//   bar_text(0.519, 20)                 "██████████▍"
//   strip_text({0, 0.2, 1, 0.5})        " ▂█▄"
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace npuscope::report {

// In eighths of a column, at least the thinnest for a share above 0, at most `width` columns.
std::string bar_text(double share, std::size_t width);

// A column for each share, in eighths of its height; a blank for 0.
std::string strip_text(const std::vector<double>& shares);

}  // namespace npuscope::report
