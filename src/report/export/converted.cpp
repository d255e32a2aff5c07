#include "report/export/converted.hpp"

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "report/document/json_text.hpp"
#include "report/document/provenance.hpp"
#include "report/document/quantity.hpp"

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
  nlohmann::ordered_json json;
  json["files"] = nlohmann::ordered_json::array();
  for (const ConvertedFile& file : converted.files) {
    json["files"].push_back({{"path", file.path.string()}, {"bytes", file.bytes}});
  }
  const std::string selected = selection_text(selection);
  json["selection"] =
      selected.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(selected);
  json["not_held"] = nlohmann::ordered_json::array();
  for (const Loss& loss : converted.losses.entries) {
    json["not_held"].push_back({{"what", loss.what}, {"count", loss.count}});
  }
  json["notes"] = notes_json(notes);
  return json_text(json);
}

}  // namespace npuscope::report
