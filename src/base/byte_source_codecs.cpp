#include "base/byte_source_codecs.hpp"

#include <fcntl.h>
#include <libdeflate.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#include "base/file_identity.hpp"

namespace npuscope {
namespace {

class FileInput final : public RawInput {
 public:
  FileInput(std::string name, std::uint64_t size, int descriptor)
      : RawInput(std::move(name), size), descriptor_(descriptor) {}
  ~FileInput() override { ::close(descriptor_); }
  FileInput(const FileInput&) = delete;
  FileInput& operator=(const FileInput&) = delete;

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    const std::uint64_t left = size() - std::min(offset, size());
    const std::size_t wanted = std::size_t(std::min<std::uint64_t>(left, into.size()));
    if (wanted == 0) return 0;
    for (;;) {
      const ssize_t count = ::pread(descriptor_, into.data(), wanted, off_t(offset));
      if (count > 0) return std::size_t(count);
      if (count == 0) {
        return input_error(
            "{}: ends at byte {} but had {} bytes when it was opened; read it again "
            "when nothing writes it any more",
            name(), offset, size());
      }
      if (errno != EINTR) {
        return input_error("{}: cannot read at byte {}: {}", name(), offset,
                           system_error_text(errno));
      }
    }
  }

 private:
  int descriptor_;
};

class TextInput final : public RawInput {
 public:
  TextInput(std::string_view text, std::string name)
      : RawInput(std::move(name), text.size()), text_(text) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    const std::size_t from = std::size_t(std::min<std::uint64_t>(offset, text_.size()));
    const std::size_t count = std::min(into.size(), text_.size() - from);
    std::copy_n(text_.data() + from, count, into.data());
    return count;
  }

 private:
  std::string_view text_;
};

}  // namespace

Result<std::unique_ptr<RawInput>> open_raw_file(const std::filesystem::path& path) {
  // Not to wait for a writer when the name is a pipe's.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return input_error("{}: cannot open: {}", path.string(), system_error_text(errno));
  }
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) {
    const int why = errno;
    ::close(descriptor);
    return input_error("{}: cannot open: {}", path.string(), system_error_text(why));
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(descriptor);
    return input_error("{}: a folder, pipe or device, not a regular file; name a file",
                       path.string());
  }
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
  return std::make_unique<FileInput>(path.string(), std::uint64_t(info.st_size), descriptor);
}

std::unique_ptr<RawInput> open_raw_text(std::string_view text, std::string name) {
  return std::make_unique<TextInput>(text, std::move(name));
}

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
      if (wrong_ != nullptr) return broken(end_of_checksum_, wrong_);
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
    ::inflateValidate(&stream_, 1);
    between_members_ = in_body_ = false;
    crc_ = 0;
    return true;
  }

  // Up to the body zlib checks, and stops there; the checksum of the body is ours.
  Result<std::size_t> inflate_some(std::span<char> into) {
    const std::uint64_t offset = file_bytes_read() - input_.bytes().size();
    constexpr std::size_t max = std::numeric_limits<uInt>::max();
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input_.bytes().data()));
    stream_.avail_in = uInt(input_.bytes().size());
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = uInt(std::min(into.size(), max));
    const uInt room = stream_.avail_out;
    const int outcome = ::inflate(&stream_, in_body_ ? Z_NO_FLUSH : Z_BLOCK);
    take_input(input_.bytes().size() - stream_.avail_in);
    const std::size_t produced = room - stream_.avail_out;
    crc_ = ::libdeflate_crc32(crc_, into.data(), produced);
    if (outcome == Z_STREAM_END) {
      between_members_ = first_member_done_ = true;
      check_trailer();
    } else if (outcome != Z_OK && outcome != Z_BUF_ERROR) {
      if (produced > 0) return produced;  // the same error comes again
      return broken(offset, stream_.msg != nullptr ? stream_.msg : "no reason given");
    }
    constexpr int after_header = 128;
    if (!in_body_ && (stream_.data_type & after_header) != 0) {
      in_body_ = true;
      ::inflateValidate(&stream_, 0);
    }
    return produced;
  }

  void take_input(std::size_t count) {
    const auto taken = input_.bytes().first(count);
    const std::size_t kept = last_taken_.size() - std::min(count, last_taken_.size());
    std::copy(last_taken_.end() - std::ptrdiff_t(kept), last_taken_.end(), last_taken_.begin());
    std::copy(taken.end() - std::ptrdiff_t(last_taken_.size() - kept), taken.end(),
              last_taken_.begin() + std::ptrdiff_t(kept));
    input_.drop(count);
  }

  void check_trailer() {
    std::uint32_t crc = 0, length = 0;  // of a little-endian machine, as all that npuscope runs on
    std::memcpy(&crc, last_taken_.data(), sizeof crc);
    std::memcpy(&length, last_taken_.data() + sizeof crc, sizeof length);
    end_of_checksum_ = file_bytes_read() - input_.bytes().size();
    if (length != std::uint32_t(stream_.total_out)) wrong_ = "incorrect length check";
    if (crc == crc_) return;
    wrong_ = "incorrect data check";
    end_of_checksum_ -= sizeof length;
  }

  Result<std::size_t> broken(std::uint64_t offset, const char* why) const {
    return input_error("{}: broken gzip data near byte {} ({}); copy the file again", name(),
                       offset, why);
  }

  z_stream stream_{};
  CompressedInput input_;
  bool ready_ = false;
  bool between_members_ = true;
  bool first_member_done_ = false;
  bool in_body_ = false;
  std::uint32_t crc_ = 0;  // of the member so far
  std::array<char, 8> last_taken_{};
  const char* wrong_ = nullptr;  // in the last member's trailer
  std::uint64_t end_of_checksum_ = 0;
};

}  // namespace

std::unique_ptr<CodecSource> make_gzip_source(std::unique_ptr<RawInput> raw, std::uint64_t limit) {
  return std::make_unique<GzipSource>(std::move(raw), limit);
}

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
