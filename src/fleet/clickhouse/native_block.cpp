#include "fleet/clickhouse/native_block.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
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

std::string clickhouse_type(const schema::Head& column) {
  const char* const type = is_text(column.type)                   ? "String"
                           : column.type == schema::Type::real    ? "Float64"
                           : column.type == schema::Type::boolean ? "UInt8"
                                                                  : "Int64";
  return column.is_nullable ? fmt::format("Nullable({})", type) : type;
}

NativeBlock::NativeBlock(std::size_t columns, std::size_t rows) {
  length(columns);
  length(rows);
}

void NativeBlock::length(std::size_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += char(value | 0x80);
  bytes_ += char(value);
}

void NativeBlock::text(std::string_view value) {
  length(value.size());
  bytes_ += value;
}

template <class T, class Values, class Of>
void NativeBlock::fixed(const Values& values, const Of& of) {
  const std::size_t begin = bytes_.size();
  bytes_.resize(begin + values.size() * sizeof(T));
  char* place = bytes_.data() + begin;
  for (const auto& each : values) {
    const T value = of(each);
    std::memcpy(place, &value, sizeof(T));
    place += sizeof(T);
  }
}

// What is nothing has a value that counts for nothing: 0, an empty text.
void NativeBlock::column(const schema::Head& head, std::span<const schema::Cell> cells) {
  using schema::Cell, schema::Type;
  text(head.name);
  text(clickhouse_type(head));
  if (head.is_nullable) {
    fixed<std::uint8_t>(cells, [](const Cell& cell) { return cell.type == Type::nothing; });
  }
  if (is_text(head.type)) {
    for (const Cell& cell : cells) text(cell.type == Type::nothing ? "" : cell.text());
  } else if (head.type == Type::boolean) {
    fixed<std::uint8_t>(cells, [](const Cell& cell) { return std::uint8_t(cell.integer); });
  } else if (head.type == Type::real) {
    fixed<double>(cells,
                  [](const Cell& cell) { return cell.type == Type::nothing ? 0 : cell.real; });
  } else {
    fixed<std::int64_t>(cells, [](const Cell& cell) { return cell.integer; });
  }
}

void NativeBlock::column(std::string_view name, std::span<const Id> values) {
  text(name);
  text("Int64");
  fixed<Id>(values, [](Id value) { return value; });
}

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
