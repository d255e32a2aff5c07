#include <fmt/format.h>

#include <deque>
#include <map>

#include "base/try.hpp"
#include "formats/torq/runtime_log.hpp"
#include "npuscope/base/files.hpp"

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
  TRY_AS(file, AtomicFile::create(path));
  file->write("dispatch_name,invocation_id,action_id,timestamp_us,event\n");
  constexpr const char* edges[] = {"_BEGIN", "_END", ""};
  for (const LogEvent& event : log.events) {
    file->write(fmt::format("{},{},{},{},{}{}\n", quoted(log.strings[event.dispatch]),
                            event.invocation, event.action, event.time_us, log.strings[event.type],
                            edges[std::size_t(event.edge)]));
  }
  return file->commit();
}

Status write_job_log(const RuntimeLog& log, const std::filesystem::path& path) {
  TRY_AS(file, AtomicFile::create(path));
  file->write("id;time_since_open;time_since_start;location\n");
  struct Invocation {
    std::deque<std::int64_t> started{};  // and not yet waited for
    std::size_t jobs = 0;
  };
  std::map<std::int64_t, Invocation> invocations;
  const std::int64_t opened = log.events.empty() ? 0 : log.events.front().time_us;
  for (const LogEvent& event : log.events) {
    const std::string_view type = log.strings[event.type];
    if (event.edge == LogEdge::begin && type == "NSS_START") {
      invocations[event.invocation].started.push_back(event.time_us);
    }
    if (event.edge != LogEdge::end || type != "NSS_WAIT") continue;
    Invocation& of = invocations[event.invocation];
    if (of.started.empty()) continue;
    file->write(fmt::format("{};{};{};loc(unknown)\n", of.jobs++, event.time_us - opened,
                            event.time_us - of.started.front()));
    of.started.pop_front();
  }
  return file->commit();
}

}  // namespace npuscope::torq
