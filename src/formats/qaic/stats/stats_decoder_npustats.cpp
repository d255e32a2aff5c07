#include "formats/qaic/stats/stats_decoder_npustats.hpp"

#include "base/text.hpp"
#include "formats/qaic/stats/stats_decoding.hpp"

namespace npuscope::qaic {

bool NpuStatsDecoder::recognises(ByteSpan bytes) const {
  return as_text(bytes).starts_with(stats_magic);
}

std::optional<std::string> NpuStatsDecoder::network_name(ByteSpan bytes) const {
  const auto reader = SectionReader::open(bytes, stats_magic, stats_version.major, "buffer");
  if (!reader) return std::nullopt;
  const SectionEntry* entry = reader->find(stats_network);
  if (entry == nullptr || !reader->intact(*entry)) return std::nullopt;
  return std::string(reader->text(*entry));
}

Status NpuStatsDecoder::decode(ByteSpan bytes, const std::string& file, const StatsNetwork& network,
                               Profile& profile) const {
  const auto reader = SectionReader::open(bytes, stats_magic, stats_version.major, file);
  if (!reader) return tl::unexpected(reader.error());
  return StatsDecoding(*reader, file, network, profile).run();
}

}  // namespace npuscope::qaic
