#include <fmt/format.h>

#include "npuscope/base/files.hpp"
#include "npuscope/formats/torq/runtime_log.hpp"

namespace npuscope::torq {

Status write_log(const RuntimeLog& log, const std::filesystem::path& path) {
  auto file = AtomicFile::create(path);
  if (!file) return tl::unexpected(file.error());
  file->write("dispatch_name,invocation_id,action_id,timestamp_us,event\n");
  for (const LogEvent& event : log.events) {
    file->write(fmt::format("{},{},{},{},{}_{}\n", log.strings[event.dispatch], event.invocation,
                            event.action, event.time_us, log.strings[event.type],
                            event.edge == LogEdge::begin ? "BEGIN" : "END"));
  }
  return file->commit();
}

}  // namespace npuscope::torq
