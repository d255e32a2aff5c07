#include <zlib.h>

#include <algorithm>
#include <limits>

#include "base/byte_source_codecs.hpp"

namespace npuscope {
namespace {

// A gzip file is one or more members, one after the other (RFC 1952, 2.2); zeros may pad the end.
class GzipSource final : public CodecSource {
 public:
  GzipSource(std::unique_ptr<RawInput> raw, std::uint64_t limit)
      : CodecSource(std::move(raw), limit) {
    ready_ = ::inflateInit2(&stream_, gzip_only) == Z_OK;
  }
  ~GzipSource() override { ::inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  Compression compression() const override { return Compression::gzip; }

 private:
  static constexpr int gzip_only = 15 + 16;  // largest window, gzip header

  Result<std::size_t> produce(std::span<char> into) override {
    if (!ready_) return input_error("{}: not enough memory to decompress; free some", name());
    for (;;) {
      if (input_.bytes().empty()) {
        const auto count = read_raw(input_.room());
        if (!count) return count;
        if (*count == 0) return end_of_file();
        input_.filled(*count);
      }
      if (between_members_ && !begin_member()) continue;
      const auto produced = inflate_some(into);
      if (!produced || *produced > 0) return produced;
    }
  }

  Result<std::size_t> end_of_file() {
    if (between_members_) return 0;
    return input_error("{}: the gzip data ends in the middle, at byte {}; copy the file again",
                       name(), file_bytes_read());
  }

  // Skips padding; false when more of the file is needed.
  bool begin_member() {
    const auto bytes = input_.bytes();
    if (first_member_done_) {
      const auto begin = std::find_if(bytes.begin(), bytes.end(), [](char c) { return c != 0; });
      input_.drop(std::size_t(begin - bytes.begin()));
      if (input_.bytes().empty()) return false;
      ::inflateReset(&stream_);
    }
    between_members_ = false;
    return true;
  }

  Result<std::size_t> inflate_some(std::span<char> into) {
    const std::uint64_t offset = file_bytes_read() - input_.bytes().size();
    constexpr std::size_t max = std::numeric_limits<uInt>::max();
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input_.bytes().data()));
    stream_.avail_in = uInt(input_.bytes().size());
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = uInt(std::min(into.size(), max));
    const uInt room = stream_.avail_out;
    const int outcome = ::inflate(&stream_, Z_NO_FLUSH);
    input_.drop(input_.bytes().size() - stream_.avail_in);
    const std::size_t produced = room - stream_.avail_out;
    if (outcome == Z_STREAM_END) {
      between_members_ = first_member_done_ = true;
    } else if (outcome != Z_OK && outcome != Z_BUF_ERROR) {
      if (produced > 0) return produced;  // the same error comes again
      return input_error("{}: broken gzip data near byte {} ({}); copy the file again", name(),
                         offset, stream_.msg != nullptr ? stream_.msg : "no reason given");
    }
    return produced;
  }

  z_stream stream_{};
  CompressedInput input_;
  bool ready_ = false;
  bool between_members_ = true;
  bool first_member_done_ = false;
};

}  // namespace

std::unique_ptr<CodecSource> make_gzip_source(std::unique_ptr<RawInput> raw, std::uint64_t limit) {
  return std::make_unique<GzipSource>(std::move(raw), limit);
}

}  // namespace npuscope
