// A slow and obvious reader of what the writer writes, from the format's documents: every structure
// becomes a tree of fields, every column a list of texts.
#pragma once

#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope::parquet::testing {

// A value of Thrift's compact protocol.
struct Tree {
  std::int64_t number = 0;
  std::string text;
  std::vector<Tree> list;
  std::map<int, Tree> fields;

  const Tree& operator[](int field) const { return fields.at(field); }
  bool has(int field) const { return fields.contains(field); }
};

class CompactReader {
 public:
  explicit CompactReader(std::string_view bytes) : bytes_(bytes) {}

  Tree structure() {
    Tree made;
    for (int field = 0;;) {
      const auto head = std::uint8_t(byte());
      if (head == 0) return made;
      if (head >> 4 == 0) throw std::runtime_error("a long field number");
      field += head >> 4;
      made.fields[field] = value(head & 15);
    }
  }
  std::size_t at() const { return at_; }

 private:
  char byte() { return bytes_.at(at_++); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto read = std::uint8_t(byte());
      value |= std::uint64_t(read & 127) << shift;
      if (read < 128) return value;
    }
  }
  Tree value(int type) {
    Tree made;
    if (type == 5 || type == 6) {
      const std::uint64_t zigzag = varint();
      made.number = std::int64_t(zigzag >> 1) ^ -std::int64_t(zigzag & 1);
    } else if (type == 8) {
      const std::uint64_t size = varint();
      made.text = bytes_.substr(at_, size);
      at_ += size;
    } else if (type == 9) {
      const auto head = std::uint8_t(byte());
      const std::uint64_t size = head >> 4 == 15 ? varint() : head >> 4;
      for (std::uint64_t i = 0; i < size; ++i) made.list.push_back(value(head & 15));
    } else if (type == 12) {
      made = structure();
    } else {
      throw std::runtime_error("a type that is not written");
    }
    return made;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
};

// `count` numbers of a hybrid of runs and packed groups.
inline std::vector<std::uint32_t> read_run_lengths(std::string_view bytes, int bits,
                                                   std::size_t count) {
  std::vector<std::uint32_t> values;
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto read = std::uint8_t(bytes.at(at++));
      value |= std::uint64_t(read & 127) << shift;
      if (read < 128) return value;
    }
  };
  while (values.size() < count) {
    const std::uint64_t head = varint();
    if (head & 1) {
      const std::size_t bit_begin = at * 8;
      for (std::uint64_t i = 0; i < (head >> 1) * 8; ++i) {
        std::uint32_t value = 0;
        for (int bit = 0; bit < bits; ++bit) {
          const std::size_t place = bit_begin + i * std::size_t(bits) + std::size_t(bit);
          value |= std::uint32_t(std::uint8_t(bytes.at(place / 8)) >> place % 8 & 1) << bit;
        }
        values.push_back(value);
      }
      at += (head >> 1) * std::size_t(bits);
    } else {
      std::uint32_t value = 0;
      for (int byte = 0; byte * 8 < bits; ++byte) {
        value |= std::uint32_t(std::uint8_t(bytes.at(at++))) << 8 * byte;
      }
      values.insert(values.end(), head >> 1, value);
    }
  }
  values.resize(count);  // the last group is filled up
  return values;
}

// NULL, or the value's bytes in the plain encoding, without the length of a text.
using Cell = std::optional<std::string>;

struct Read {
  Tree footer;
  std::map<std::string, std::vector<Cell>> columns;
  std::map<std::string, bool> has_dictionary;  // of the last chunk
};

class FileReader {
 public:
  explicit FileReader(std::string_view file) : file_(file) {}

  Read read() {
    std::uint32_t size = 0;
    std::memcpy(&size, file_.data() + file_.size() - 8, 4);
    if (file_.substr(0, 4) != "PAR1" || file_.substr(file_.size() - 4) != "PAR1") {
      throw std::runtime_error("not a Parquet file");
    }
    Read made;
    made.footer = CompactReader(file_.substr(file_.size() - 8 - size, size)).structure();
    for (const Tree& group : made.footer[4].list) {
      for (std::size_t column = 0; column < group[1].list.size(); ++column) {
        take_chunk(group[1].list[column][3], made.footer[2].list.at(column + 1), made);
      }
    }
    return made;
  }

 private:
  struct Page {
    Tree head;
    std::string bytes;
  };

  Page page(std::size_t& at) const {
    CompactReader reader(file_.substr(at));
    Page read{reader.structure(), {}};
    at += reader.at();
    read.bytes.resize(std::size_t(read.head[2].number));
    const auto packed = std::size_t(read.head[3].number);
    const std::size_t size =
        ZSTD_decompress(read.bytes.data(), read.bytes.size(), file_.data() + at, packed);
    if (size != read.bytes.size()) throw std::runtime_error("a page of another size than it says");
    at += packed;
    return read;
  }

  static std::vector<std::string> plain(std::string_view bytes, int type, std::size_t count) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t size = 8;
      if (type == 6) {
        std::memcpy(&size, bytes.data(), 4);
        bytes.remove_prefix(4);
      }
      values.emplace_back(bytes.substr(0, size));
      bytes.remove_prefix(size);
    }
    if (!bytes.empty()) throw std::runtime_error("more bytes than values");
    return values;
  }

  void take_chunk(const Tree& data, const Tree& schema, Read& made) {
    const int type = int(data[1].number);
    std::vector<Cell>& cells = made.columns[schema[4].text];
    std::vector<std::string> dictionary;
    const auto data_begin = std::size_t(data[9].number);
    std::size_t at = data_begin;
    made.has_dictionary[schema[4].text] = data.has(11);
    if (data.has(11)) {
      at = std::size_t(data[11].number);
      const Page values = page(at);
      dictionary = plain(values.bytes, type, std::size_t(values.head[7][1].number));
      if (at != data_begin) throw std::runtime_error("data pages begin elsewhere");
    }
    for (std::int64_t left = data[5].number; left > 0;) {
      const Page of = page(at);
      const auto rows = std::size_t(of.head[5][1].number);
      left -= std::int64_t(rows);
      std::string_view bytes = of.bytes;
      std::vector<std::uint32_t> levels(rows, 1);
      if (schema[3].number == 1) {
        std::uint32_t size = 0;
        std::memcpy(&size, bytes.data(), 4);
        levels = read_run_lengths(bytes.substr(4, size), 1, rows);
        bytes.remove_prefix(4 + size);
      }
      std::size_t present = 0;
      for (const std::uint32_t level : levels) present += level;
      std::vector<std::string> values;
      if (of.head[5][2].number == 8) {
        for (const std::uint32_t place : read_run_lengths(bytes.substr(1), bytes.at(0), present)) {
          values.push_back(dictionary.at(place));
        }
      } else {
        values = plain(bytes, type, present);
      }
      std::size_t next = 0;
      for (const std::uint32_t level : levels) {
        if (level == 0)
          cells.emplace_back();
        else
          cells.emplace_back(values.at(next++));
      }
    }
    const std::size_t begin = std::size_t(data.has(11) ? data[11].number : data[9].number);
    if (at - begin != std::size_t(data[7].number))
      throw std::runtime_error("a chunk of another size");
  }

  std::string_view file_;
};

}  // namespace npuscope::parquet::testing
