#include "formats/qnn/read/artifact_parts.hpp"

#include <fmt/format.h>

#include "base/numbers.hpp"

namespace npuscope::qnn {
namespace {

class VersionParts {
 public:
  explicit VersionParts(JsonText& json) : json_(json) {}

  void take(std::string_view key, ondemand::value& value) {
    if (key != "version") return;
    json_.each_member(value, key, [&](std::string_view part, ondemand::value number) {
      if (part == "major") parts_[0] = json_.integer(number, part).value_or(-1);
      if (part == "minor") parts_[1] = json_.integer(number, part).value_or(0);
      if (part == "patch") parts_[2] = json_.integer(number, part).value_or(0);
    });
  }
  std::string text() const {
    return parts_[0] < 0 ? std::string() : fmt::format("{}", fmt::join(parts_, "."));
  }

 private:
  JsonText& json_;
  std::array<std::int64_t, 3> parts_{-1, 0, 0};
};

}  // namespace

std::string read_header_version(JsonText& json, ondemand::value& header) {
  VersionParts parts(json);
  json.each_member(header, "header",
                   [&](std::string_view key, ondemand::value value) { parts.take(key, value); });
  return parts.text();
}

std::string header_version_of(std::string_view text) {
  CountedNotes unused;
  auto source = open_byte_source(text, "header");
  if (!source) return {};
  auto json = JsonText::load(**source, unused);
  if (!json) return {};
  VersionParts parts(*json);
  json->each_member([&](std::string_view key, ondemand::value value) { parts.take(key, value); });
  return parts.text();
}

std::optional<std::uint64_t> parse_id(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return std::nullopt;
  return parse_number<std::uint64_t>(text.substr(2), 16);
}

}  // namespace npuscope::qnn
