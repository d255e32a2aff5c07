// --svg: a command's answer as a picture, with its page or instead of it.
#pragma once

#include <functional>
#include <string>

#include "cli/documents.hpp"

namespace npuscope::cli {

struct PictureOptions {
  std::string file;  // empty: none; "-": standard output, and no page
  double width = 960;

  bool wanted() const { return !file.empty(); }
  bool replaces_page() const { return file == "-"; }
};

// --svg and --svg-width.
void add_picture_options(Command& command, PictureOptions& options);

// A usage error where the picture would be written over one of the inputs.
Status check_picture(const PictureOptions& options, std::span<const std::string> inputs);
Status write_picture(const PictureOptions& options, const std::string& svg);

using DrawPicture =
    std::function<Result<std::string>(const analysis::Analysis&, const report::ProfilePart&)>;

// As print_documents(), with the picture where one is wanted: of one profile, or it is a usage
// error.
ExitStatus print_with_picture(const DocumentOptions& options, const PictureOptions& picture,
                              const DrawPicture& draw, const MakeDocument& make,
                              const report::SelectOptions& select = {});

}  // namespace npuscope::cli
