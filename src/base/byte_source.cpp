#include "npuscope/base/byte_source.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/byte_source_codecs.hpp"
#include "base/memory_use.hpp"
#include "base/try.hpp"

namespace npuscope {
namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

class PlainSource final : public CodecSource {
 public:
  explicit PlainSource(std::unique_ptr<RawInput> raw) : CodecSource(std::move(raw), no_limit) {}
  Compression compression() const override { return Compression::none; }

 private:
  Result<std::size_t> produce(std::span<char> into) override { return read_raw(into); }
};

// gzip: RFC 1952, with deflate, the only method there is. zstd: RFC 8878, 3.1.1 and 3.1.2.
Compression compression_of(std::span<const unsigned char> head) {
  const auto begins = [&](std::initializer_list<unsigned char> magic) {
    return head.size() >= magic.size() && std::equal(magic.begin(), magic.end(), head.begin());
  };
  if (begins({0x1f, 0x8b, 0x08})) return Compression::gzip;
  if (begins({0x28, 0xb5, 0x2f, 0xfd})) return Compression::zstd;
  const bool skippable = head.size() >= 4 && (head[0] & 0xf0) == 0x50 && head[1] == 0x2a &&
                         head[2] == 0x4d && head[3] == 0x18;
  return skippable ? Compression::zstd : Compression::none;
}

Result<std::unique_ptr<CodecSource>> make_source(std::unique_ptr<RawInput> raw,
                                                 const ByteSourceOptions& options) {
  std::array<char, 4> head{};
  std::size_t filled = 0;
  while (filled < head.size()) {
    TRY_AS(count, raw->read_at(filled, std::span(head).subspan(filled)));
    if (*count == 0) break;
    filled += *count;
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(head.data());
  switch (compression_of({bytes, filled})) {
    case Compression::gzip: return make_gzip_source(std::move(raw), options.decompressed_limit);
    case Compression::zstd: return make_zstd_source(std::move(raw), options.decompressed_limit);
    case Compression::none: break;
  }
  return std::make_unique<PlainSource>(std::move(raw));
}

Result<std::unique_ptr<ByteSource>> open_source(std::unique_ptr<RawInput> raw,
                                                const ByteSourceOptions& options) {
  TRY_AS(source, make_source(std::move(raw), options));
  (*source)->set_memory_limit(options.memory_limit > 0 ? options.memory_limit
                                                       : default_memory_limit());
  return std::move(*source);
}

}  // namespace

std::uint64_t default_memory_limit() {
  static const std::uint64_t limit = usable_memory() / 3;
  return limit;
}

Result<std::size_t> CodecSource::read_raw(std::span<char> into) {
  const auto count = raw_->read_at(raw_position_, into);
  if (count) raw_position_ += *count;
  return count;
}

Result<std::size_t> CodecSource::read(std::span<char> into) {
  std::size_t filled = 0;
  while (filled < into.size() && !ended_) {
    const Status enough = check_memory();
    const auto count = enough ? produce_within_limit(into.subspan(filled))
                              : Result<std::size_t>(tl::unexpected(enough.error()));
    if (!count) error_ = count.error();
    ended_ = !count || *count == 0;
    if (count) filled += *count;
  }
  if (filled == 0 && error_) {
    Error error = *std::exchange(error_, std::nullopt);
    return tl::unexpected(std::move(error));
  }
  return filled;
}

// What readers make of a step's bytes is far less than what is left of the memory.
Status CodecSource::check_memory() {
  constexpr std::uint64_t step = 8 << 20;
  if (memory_limit_ == 0 || position_ < next_memory_check_) return {};
  next_memory_check_ = position_ + step;
  const std::uint64_t in_use = memory_in_use();
  if (in_use <= memory_limit_) return {};
  return input_error(
      "{}: reading stopped after {} MiB of its text, because npuscope holds {} MiB of memory and "
      "its "
      "limit is {} MiB; --max-memory raises it",
      name(), position_ >> 20, in_use >> 20, memory_limit_ >> 20);
}

// At the limit one byte more is tried: a file may end exactly there.
Result<std::size_t> CodecSource::produce_within_limit(std::span<char> into) {
  const std::uint64_t left = limit_ - position_;
  char beyond = 0;
  if (left == 0) {
    into = {&beyond, 1};
  } else if (into.size() > left) {
    into = into.first(std::size_t(left));
  }
  const auto count = produce(into);
  if (count && *count > 0 && left == 0) {
    return input_error(
        "{}: decompresses to more than {} bytes, the limit; decompress it to a file "
        "and open that",
        name(), limit_);
  }
  if (count) position_ += *count;
  return count;
}

Result<std::unique_ptr<ByteSource>> open_byte_source(const std::filesystem::path& path,
                                                     const ByteSourceOptions& options) {
  TRY_AS(raw, open_raw_file(path));
  return open_source(std::move(*raw), options);
}

Result<std::unique_ptr<ByteSource>> open_byte_source(std::string_view text, std::string name,
                                                     const ByteSourceOptions& options) {
  return open_source(open_raw_text(text, std::move(name)), options);
}

Result<std::string> read_head(const std::filesystem::path& path, std::size_t count) {
  TRY_AS(source, open_byte_source(path));
  std::string head(count, '\0');
  TRY_AS(read, (*source)->read(head));
  head.resize(*read);
  return head;
}

Result<std::string> read_all(ByteSource& source, std::uint64_t limit) {
  // Memory that is not touched costs nothing: clearing it, or copying what did not fit, would.
  constexpr std::uint64_t likely_ratio = 16, most_guessed = 4 << 20;
  constexpr std::uint64_t padding = 64;  // that parsers of JSON ask for behind the text
  constexpr std::size_t piece_bytes = 64 << 10;
  const std::uint64_t bytes = source.file_bytes();
  const bool is_plain = source.compression() == Compression::none;
  std::string text;
  text.reserve(std::min(is_plain ? bytes : std::min(bytes * likely_ratio, most_guessed), limit) +
               padding);
  const auto piece = std::make_unique_for_overwrite<char[]>(piece_bytes);
  for (;;) {
    TRY_AS(count, source.read({piece.get(), piece_bytes}));
    if (*count == 0) return text;
    text.append(piece.get(), *count);
    if (text.size() > limit) {
      return input_error(
          "{}: has more than {} bytes, too many for a file of its kind; check that "
          "it is the right file",
          source.name(), limit);
    }
  }
}

}  // namespace npuscope
