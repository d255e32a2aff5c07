// The heading that every picture of a profile has: what was profiled, and which inferences and
// which part of it the numbers are of, as the head of the command's page says it.
//
//   Figure figure(view.width, picture_heading("Timeline by unit", profile,
//                                             {.facts = {"wall 12.53 ms"},
//                                              .scope = scope_of_all(profile),
//                                              .selection = view.selection}));
//
//   Timeline by unit
//   Cloud AI 100 raw device statistics · 2 inferences, the first cold
//   wall 12.53 ms · all 2 inferences together · core 0
#pragma once

#include <string>
#include <vector>

#include "npuscope/profile/profile.hpp"
#include "report/picture/figure.hpp"

namespace npuscope::report {

// How all pictures are asked for.
struct PictureView {
  double width = 960;          // pixels
  std::string selection = {};  // what of the profile it is; empty: all
};

struct PictureFacts {
  std::vector<std::string> facts = {};  // the picture's figures in words
  std::string scope = {};               // of which inferences they are (scope.hpp); empty: of one
  std::string selection = {};
};

FigureHeading picture_heading(std::string title, const Profile& profile, const PictureFacts& about);

}  // namespace npuscope::report
