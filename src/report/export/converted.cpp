#include "report/export/converted.hpp"

#include "base/text.hpp"
#include "report/document/document_json.hpp"
#include "report/document/document_value.hpp"

namespace npuscope::report {

std::string converted_text(const Converted& converted) {
  std::string out;
  for (const ConvertedFile& file : converted.files) {
    out += fmt::format("wrote {} ({})\n", printable(file.path.string()),
                       bytes_text(double(file.bytes)));
  }
  if (converted.losses.entries.empty()) return out;
  out += "\nnot held, or not as it was:\n";
  for (const Loss& loss : converted.losses.entries) {
    out += fmt::format("  {:>12}  {}\n", thousands(loss.count), printable(loss.what));
  }
  return out;
}

std::string converted_json(const Converted& converted, std::span<const Note> notes,
                           const Selection& selection) {
  return json_text([&](Json& json) {
    json.objects("files", converted.files, [&](const ConvertedFile& file) {
      json.member("path", file.path.string());
      json.member("bytes", file.bytes);
    });
    json.member("selection", or_null(selection_text(selection)));
    json.objects("not_held", converted.losses.entries, [&](const Loss& loss) {
      json.member("what", loss.what);
      json.member("count", loss.count);
    });
    write_notes(json, notes);
  });
}

}  // namespace npuscope::report
