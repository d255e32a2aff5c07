#include <zstd.h>
#include <zstd_errors.h>

#include "base/byte_source_codecs.hpp"

namespace npuscope {
namespace {

// One frame or more, one after the other; the library goes on to the next by itself and skips
// skippable ones. It refuses windows over 128 MiB, so memory stays bounded.
class ZstdSource final : public CodecSource {
 public:
  ZstdSource(std::unique_ptr<RawInput> raw, std::uint64_t limit)
      : CodecSource(std::move(raw), limit), stream_(::ZSTD_createDStream()) {}
  ~ZstdSource() override { ::ZSTD_freeDStream(stream_); }
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;

  Compression compression() const override { return Compression::zstd; }

 private:
  Result<std::size_t> produce(std::span<char> into) override {
    if (stream_ == nullptr) {
      return input_error("{}: not enough memory to decompress; free some", name());
    }
    for (;;) {
      const auto produced = decompress_some(into);
      if (!produced || *produced > 0) return produced;
      if (!input_.bytes().empty()) continue;
      const auto count = read_raw(input_.room());
      if (!count) return count;
      if (*count == 0) return end_of_file();
      input_.filled(*count);
    }
  }

  Result<std::size_t> end_of_file() {
    if (wanted_ == 0) return 0;
    return input_error("{}: the zstd data ends in the middle, at byte {}; copy the file again",
                       name(), file_bytes_read());
  }

  // Also without input: the library may hold back what did not fit before.
  Result<std::size_t> decompress_some(std::span<char> into) {
    if (input_.bytes().empty() && wanted_ == 0) return 0;
    const std::uint64_t offset = file_bytes_read() - input_.bytes().size();
    ZSTD_inBuffer in{input_.bytes().data(), input_.bytes().size(), 0};
    ZSTD_outBuffer out{into.data(), into.size(), 0};
    const std::size_t outcome = ::ZSTD_decompressStream(stream_, &out, &in);
    input_.drop(in.pos);
    if (!::ZSTD_isError(outcome)) {
      wanted_ = outcome;
      return out.pos;
    }
    if (::ZSTD_getErrorCode(outcome) == ZSTD_error_frameParameter_windowTooLarge) {
      return input_error(
          "{}: compressed with a window over 128 MiB; decompress it with zstd -d "
          "--long=31 and open the result",
          name());
    }
    return input_error("{}: broken zstd data near byte {} ({}); copy the file again", name(),
                       offset, ::ZSTD_getErrorName(outcome));
  }

  ZSTD_DStream* stream_;
  CompressedInput input_;
  std::size_t wanted_ = 0;  // 0: a frame is complete and handed out whole
};

}  // namespace

std::unique_ptr<CodecSource> make_zstd_source(std::unique_ptr<RawInput> raw, std::uint64_t limit) {
  return std::make_unique<ZstdSource>(std::move(raw), limit);
}

}  // namespace npuscope
