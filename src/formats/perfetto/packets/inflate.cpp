#include "formats/perfetto/packets/inflate.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "npuscope/base/byte_source.hpp"

namespace npuscope::perfetto {
namespace {

// zlib's window, header and checksum (RFC 1950), as Perfetto writes them.
class ZlibStream {
 public:
  explicit ZlibStream(std::string_view bytes) : left_(bytes) {
    ready_ = ::inflateInit(&stream_) == Z_OK;
  }
  ~ZlibStream() { ::inflateEnd(&stream_); }
  ZlibStream(const ZlibStream&) = delete;
  ZlibStream& operator=(const ZlibStream&) = delete;

  Result<std::size_t> read(std::span<char> into) {
    if (!ready_) return input_error("not enough memory to decompress");
    constexpr std::size_t max = std::numeric_limits<uInt>::max();
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = uInt(std::min(into.size(), max));
    const uInt room = stream_.avail_out;
    while (!ended_ && stream_.avail_out > 0) {
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(left_.data()));
      stream_.avail_in = uInt(std::min(left_.size(), max));
      const uInt given = stream_.avail_in;
      const int outcome = ::inflate(&stream_, Z_NO_FLUSH);
      left_.remove_prefix(given - stream_.avail_in);
      ended_ = outcome == Z_STREAM_END;
      if (!ended_ && outcome != Z_OK) {
        if (stream_.avail_out < room) break;  // the same error comes again
        return input_error("broken or cut zlib data");
      }
    }
    return room - stream_.avail_out;
  }

 private:
  z_stream stream_{};
  std::string_view left_;
  bool ready_ = false;
  bool ended_ = false;
};

ReadBytes make_zstd_inflater(std::string_view bytes) {
  constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();
  auto opened = open_byte_source(bytes, "compressed packet", {no_limit});
  if (!opened || (*opened)->compression() != Compression::zstd) {
    return [](std::span<char>) -> Result<std::size_t> { return input_error("no zstd data"); };
  }
  std::shared_ptr<ByteSource> source = std::move(*opened);
  return [source](std::span<char> into) { return source->read(into); };
}

}  // namespace

ReadBytes make_inflater(PacketCompression compression, std::string_view bytes) {
  if (compression == PacketCompression::zstd) return make_zstd_inflater(bytes);
  auto stream = std::make_shared<ZlibStream>(bytes);
  return [stream](std::span<char> into) { return stream->read(into); };
}

}  // namespace npuscope::perfetto
