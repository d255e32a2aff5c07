#include "fleet/clickhouse/native_block.hpp"

#include <zstd.h>

#include <algorithm>
#include <memory>

namespace npuscope::fleet {
namespace {

// checksum (16 bytes), method, bytes of the frame from here on, bytes before compression
constexpr std::size_t checksum_bytes = 16, head_bytes = 9, frame_bytes = 1 << 20;
constexpr char zstd_method = char(0x90);
constexpr int level = 1;

void put_length(char* place, std::size_t value) {
  for (int i = 0; i < 4; ++i) place[i] = char(value >> (8 * i));
}

}  // namespace

std::string compressed_frames(std::string_view bytes) {
  const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                        ZSTD_freeCCtx);
  std::string frames;
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, frame_bytes);
    const std::size_t begin = frames.size();
    frames.resize(begin + checksum_bytes + head_bytes + ZSTD_compressBound(part.size()));
    // The checksum stays zero: the connection has one, and the server is told not to look.
    char* const head = frames.data() + begin + checksum_bytes;
    const std::size_t size = ZSTD_compressCCtx(context.get(), head + head_bytes,
                                               frames.size() - begin - checksum_bytes - head_bytes,
                                               part.data(), part.size(), level);
    head[0] = zstd_method;
    put_length(head + 1, head_bytes + size);
    put_length(head + 5, part.size());
    frames.resize(begin + checksum_bytes + head_bytes + size);
    bytes.remove_prefix(part.size());
  }
  return frames;
}

}  // namespace npuscope::fleet
