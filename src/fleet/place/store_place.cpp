#include "fleet/place/store_place.hpp"

#include <array>
#include <cstdint>
#include <fstream>
#include <string_view>

#include "fleet/place/clickhouse_address.hpp"

namespace npuscope::fleet {
namespace {

// Whether the head of the file is SQLite's with the id of a fleet's store.
bool begins_as_sqlite_store(const std::filesystem::path& file) {
  constexpr std::string_view magic("SQLite format 3\0", 16);
  constexpr std::size_t place = 68, size = 4;
  std::array<char, place + size> head{};
  std::ifstream in(file, std::ios::binary);
  if (!in.read(head.data(), head.size()) || std::string_view(head.data(), magic.size()) != magic) {
    return false;
  }
  int id = 0;
  for (std::size_t i = 0; i < size; ++i) id = id << 8 | std::uint8_t(head[place + i]);
  return id == application_id;
}

}  // namespace

std::filesystem::path file_of_store(const std::filesystem::path& path) {
  std::error_code unknown;
  return std::filesystem::is_directory(path, unknown) ? path / "fleet.db" : path;
}

std::size_t end_of_scheme(const std::string& path) {
  const std::size_t begin = path.find("://");
  return begin == path.npos ? 0 : begin + 3;
}

bool is_store(const std::string& path) {
  if (end_of_scheme(path) > 0) return true;
  std::error_code unknown;
  const std::filesystem::path file = file_of_store(path);
  return std::filesystem::is_regular_file(file, unknown) && begins_as_sqlite_store(file);
}

std::string store_name(const std::string& path) {
  if (!ClickHouseAddress::is_one(path)) {
    return end_of_scheme(path) > 0 ? path.substr(0, end_of_scheme(path)) : path;
  }
  const auto address = ClickHouseAddress::parse(path);
  return address ? address->name() : path.substr(0, end_of_scheme(path));
}

}  // namespace npuscope::fleet
