// What the backend prints before the first profile line: the chip, the mode, what it refuses.
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "formats/ggml/log_line.hpp"
#include "formats/ggml/records.hpp"

namespace npuscope::ggml {
namespace {

void take_mode(std::string_view rest, Log& log) {
  log.mode = take_number<int>(rest);
  log.pmu_events.clear();
  for (std::size_t at = rest.find("0x"); at != rest.npos; at = rest.find("0x")) {
    rest.remove_prefix(at + 2);
    const auto event = take_number<std::uint32_t>(rest, 16);
    if (event && log.pmu_events.size() < pmu_counters) log.pmu_events.push_back(*event);
  }
}

// "threads 6, hvx 6, hmx 1, vtcm 8 MB"
void take_hardware(std::string_view text, Session& session) {
  Fields fields(text);
  std::uint64_t threads = 0, hvx = 0, hmx = 0, vtcm = 0;
  if (!fields.number("threads ", threads) || !fields.number(", hvx ", hvx) ||
      !fields.number(", hmx ", hmx)) {
    return;
  }
  if (threads > 64 || hvx > 64 || hmx > 64) return;
  session.threads = std::uint32_t(threads);
  session.hvx = std::uint32_t(hvx);
  session.hmx = std::uint32_t(hmx);
  if (fields.number(", vtcm ", vtcm) && vtcm < 1 << 20) session.vtcm_bytes = vtcm << 20;
}

}  // namespace

void take_setting(std::string_view message, Log& log) {
  constexpr std::string_view arch = "Hexagon Arch version ", mode = "Profiling mode ";
  constexpr std::string_view hardware = " hwinfo: ", support = "supports-op ";
  if (message.starts_with(arch)) {
    const std::string_view version = message.substr(arch.size());
    log.arch = version.substr(0, std::min<std::size_t>(version.find_first_of(" ,"), 16));
  } else if (message.starts_with(mode)) {
    take_mode(message.substr(mode.size()), log);
  } else if (const std::size_t at = message.find(hardware); at != message.npos) {
    Session& session = log.sessions[log.session_named(message.substr(0, at))];
    take_hardware(message.substr(at + hardware.size()), session);
  } else if (const std::size_t op = message.find(support); op != message.npos) {
    const std::string_view verdict = trimmed(message);
    if (!verdict.ends_with("|no") && !verdict.ends_with(": no")) return;
    log.coverage.refuse(message.substr(op + support.size()));
  }
}

}  // namespace npuscope::ggml
