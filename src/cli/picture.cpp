#include "cli/picture.hpp"

#include "cli/choices.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::cli {
namespace {

std::string path_of_output(const PictureOptions& options) {
  return options.replaces_page() ? "/dev/stdout" : options.file;
}

}  // namespace

void add_picture_options(Command& command, PictureOptions& options) {
  command
      .flag("--svg", options.file,
            "write a picture too; - for only the picture, on standard output")
      .check(
          [](std::string& name) { return std::string(name.empty() ? "a file needs a name" : ""); });
  command.flag("--svg-width", options.width, "width of the picture in pixels")
      .check(real_number(300, 10'000))
      .shows_usual();
  command.matters_with("--svg-width", {"--svg"});
}

Status check_picture(const PictureOptions& options, std::span<const std::string> inputs) {
  return options.wanted() ? check_output_is_no_input(inputs, path_of_output(options)) : Status();
}

Status write_picture(const PictureOptions& options, const std::string& svg) {
  return write_file_atomically(path_of_output(options), as_byte_span(svg));
}

ExitStatus print_with_picture(const DocumentOptions& options, const PictureOptions& picture,
                              const DrawPicture& draw, const MakeDocument& make,
                              const report::SelectOptions& select) {
  if (!picture.wanted()) return print_documents(options, make, select);
  const auto selected = open_selected(options, select);
  if (!selected) return report(selected.error());
  if (selected->parts.size() != 1) {
    return report(Error{ErrorKind::usage,
                        fmt::format("--svg {}: a picture is of one profile, and these are {}; name "
                                    "the files of one",
                                    picture.file, selected->parts.size())});
  }
  const report::ProfilePart& part = selected->parts.front();
  const auto drawn = draw(analysis::Analysis(part.profile), part);
  if (!drawn) return report(drawn.error());
  for (const auto& inputs : {options.files, part.profile.provenance.files}) {
    if (auto written = check_picture(picture, inputs); !written) return report(written.error());
  }
  if (auto written = write_picture(picture, *drawn); !written) return report(written.error());
  if (!picture.replaces_page()) return print_documents(options, *selected, make);
  print_notes(selected->notes);
  return status_of(options, selected->notes);
}

}  // namespace npuscope::cli
