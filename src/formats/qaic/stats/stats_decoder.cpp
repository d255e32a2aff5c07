#include "formats/qaic/stats/stats_decoder.hpp"

#include <algorithm>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "formats/qaic/stats/stats_decoding.hpp"
#include "profile/pmu_events.hpp"

namespace npuscope::qaic {

namespace measure {
std::string port_wait(std::uint32_t port) { return fmt::format("port {} wait", port); }
std::string port_doorbell(std::uint32_t port) {
  return fmt::format("port {} doorbell after begin", port);
}
std::string pmu(std::uint32_t event) { return pmu_measure(event); }

namespace {
std::optional<std::uint32_t> number_between(std::string_view text, std::string_view before,
                                            std::string_view after, int base) {
  if (!text.starts_with(before) || !text.ends_with(after)) return std::nullopt;
  if (text.size() < before.size() + after.size()) return std::nullopt;
  text.remove_prefix(before.size());
  text.remove_suffix(after.size());
  return parse_number<std::uint32_t>(text, base);
}
}  // namespace

std::optional<std::uint32_t> port_of_wait(std::string_view what) {
  return number_between(what, "port ", " wait", 10);
}
std::optional<std::uint32_t> event_of_pmu(std::string_view what) {
  return event_of_pmu_measure(what);
}
}  // namespace measure

Status check_stats_buffer(ByteSpan bytes, const std::string& file) {
  if (as_text(bytes).starts_with(stats_magic)) return {};
  if (bytes.empty()) {
    return input_error("{}: empty; the run or the copy that made it failed, collect it again",
                       file);
  }
  if (std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; })) {
    return input_error(
        "{}: all zero: the device never wrote it; let the inference finish before "
        "the buffer is saved, and collect it again",
        file);
  }
  return input_error(
      "{}: not a statistics buffer that npuscope knows (it begins with neither of "
      "its layouts); the vendor's raw layout is not public, collect buffers with "
      "npuscope run --aic-profiling-type=raw_device_stats",
      file);
}

std::optional<std::string> network_name_in_stats_buffer(ByteSpan bytes) {
  const auto reader = SectionReader::open(bytes, stats_magic, stats_version.major, "buffer");
  if (!reader) return std::nullopt;
  const SectionEntry* entry = reader->find(stats_network);
  if (entry == nullptr || !reader->intact(*entry)) return std::nullopt;
  return std::string(reader->text(*entry));
}

Status decode_stats_records(ByteSpan bytes, const std::string& file, const StatsNetwork& network,
                            Profile& profile) {
  if (auto is_buffer = check_stats_buffer(bytes, file); !is_buffer) return is_buffer;
  const auto reader = SectionReader::open(bytes, stats_magic, stats_version.major, file);
  if (!reader) return tl::unexpected(reader.error());
  return StatsDecoding(*reader, file, network, profile).run();
}

Result<Profile> decode_stats_buffer(ByteSpan bytes, const std::string& file,
                                    const StatsNetwork& network) {
  Profile profile = network.profile();
  const auto decoded = decode_stats_records(bytes, file, network, profile);
  if (!decoded) return tl::unexpected(decoded.error());
  return profile;
}

std::optional<double> profile_measure(const Profile& profile, const NamedNumber& number) {
  for (const Measure& row : profile.measures) {
    if (row.subject == Measure::Subject::profile && profile.text(row.what) == number.name) {
      return row.value;
    }
  }
  return std::nullopt;
}

bool is_partial(const Profile& profile) {
  return std::any_of(profile.notes.begin(), profile.notes.end(),
                     [](const Note& note) { return note.severity == Severity::error; });
}

Status check_trace_level(const Profile& profile, const std::string& file) {
  const double level = profile_measure(profile, measure::stats_level).value_or(0);
  if (level >= 50) return {};
  return input_error(
      "{}: compiled with -stats-level={:.0f}, which records no operators; compile "
      "with -stats-level=70 or more for a trace",
      file, level);
}

}  // namespace npuscope::qaic
