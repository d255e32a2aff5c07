// The bytes of an input, in order and once, whatever they lie in: a plain file, a gzip or a zstd
// file (known by content, not by name), or memory. Nothing is mapped, so a file that shrinks while
// it is read ends early instead of ending the program, and a compressed file never lies in memory
// as a whole.
//
//   auto source = open_byte_source("trace.json.gz");
//   if (!source) return tl::unexpected(source.error());
//   std::vector<char> buffer(1 << 20);
//   for (;;) {
//     const Result<std::size_t> count = (*source)->read(buffer);
//     if (!count) …              // a broken archive: what came before is good
//     if (*count == 0) break;    // the end
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "npuscope/base/result.hpp"

namespace npuscope {

enum class Compression : std::uint8_t { none, gzip, zstd };

struct ByteSourceOptions {
  // A compressed file that grows beyond this ends with an error that says so (an archive of a few
  // kilobytes can hold terabytes).
  std::uint64_t decompressed_limit = std::uint64_t{64} << 30;
  // When the process holds so many bytes, reading ends with an error that says so: what is made of
  // a file may take more memory than there is, however small the file. 0: a third of what the
  // machine has, or the process may have of that: what follows on reading takes up to twice as
  // much beside it.
  std::uint64_t memory_limit = 0;
};

// The limit that 0 stands for.
std::uint64_t default_memory_limit();

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills `into`. Fewer bytes than asked for are the last good ones; the call after them says 0,
  // the end, or why there are no more (a broken archive, a file that shrank). After an error the
  // source is at its end.
  virtual Result<std::size_t> read(std::span<char> into) = 0;

  // Decompressed bytes handed out so far.
  virtual std::uint64_t position() const = 0;
  // Bytes of the file read so far and in all (not decompressed), for a progress bar.
  virtual std::uint64_t file_bytes_read() const = 0;
  virtual std::uint64_t file_bytes() const = 0;
  virtual Compression compression() const = 0;
  // The file's name as the caller gave it, for messages.
  virtual const std::string& name() const = 0;
};

Result<std::unique_ptr<ByteSource>> open_byte_source(const std::filesystem::path& path,
                                                     const ByteSourceOptions& options = {});

// `text` must outlive the source. Compressed text is decompressed as in a file.
Result<std::unique_ptr<ByteSource>> open_byte_source(std::string_view text, std::string name,
                                                     const ByteSourceOptions& options = {});

// The first bytes (at most `count`, decompressed) of a file, to tell what it is.
Result<std::string> read_head(const std::filesystem::path& path, std::size_t count);

// Everything, for files that are small by nature; an input error beyond `limit` bytes.
Result<std::string> read_all(ByteSource& source, std::uint64_t limit);

}  // namespace npuscope
