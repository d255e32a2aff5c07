// The decoder of npuscope's own raw buffer layout (stats_buffer.hpp).
#pragma once

#include "formats/qaic/stats/stats_buffer.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"

namespace npuscope::qaic {

class NpuStatsDecoder final : public StatsBufferDecoder {
 public:
  std::string_view name() const override { return "npuscope statistics buffer 1"; }
  bool recognises(ByteSpan bytes) const override;
  std::optional<std::string> network_name(ByteSpan bytes) const override;
  Status decode(ByteSpan bytes, const std::string& file, const StatsNetwork& network,
                Profile& profile) const override;
};

}  // namespace npuscope::qaic
