#include <fmt/format.h>

#include "npuscope/base/files.hpp"
#include "npuscope/formats/torq/runtime_log.hpp"

namespace npuscope::torq {
namespace {

// As RFC 4180 has it, where the name needs it.
std::string quoted(std::string_view name) {
  if (name.find_first_of(",\"\r\n") == name.npos) return std::string(name);
  std::string text = "\"";
  for (const char c : name) {
    text += c;
    if (c == '"') text += c;
  }
  return text + '"';
}

}  // namespace

Status write_log(const RuntimeLog& log, const std::filesystem::path& path) {
  auto file = AtomicFile::create(path);
  if (!file) return tl::unexpected(file.error());
  file->write("dispatch_name,invocation_id,action_id,timestamp_us,event\n");
  constexpr const char* edges[] = {"_BEGIN", "_END", ""};
  for (const LogEvent& event : log.events) {
    file->write(fmt::format("{},{},{},{},{}{}\n", quoted(log.strings[event.dispatch]),
                            event.invocation, event.action, event.time_us, log.strings[event.type],
                            edges[std::size_t(event.edge)]));
  }
  return file->commit();
}

}  // namespace npuscope::torq
