#include "report/picture/picture_heading.hpp"

#include <fmt/ranges.h>

#include "report/document/provenance.hpp"

namespace npuscope::report {

FigureHeading picture_heading(std::string title, const Profile& profile,
                              const PictureFacts& about) {
  std::vector<std::string> said = about.facts;
  for (const std::string& part : {about.scope, about.selection}) {
    if (!part.empty()) said.push_back(part);
  }
  return {std::move(title),
          {what_was_profiled(profile), fmt::format("{}", fmt::join(said, " · "))}};
}

}  // namespace npuscope::report
