#include "fleet/clickhouse/clickhouse_store.hpp"
#include "fleet/sqlite/sqlite_store.hpp"
#include "fleet/store.hpp"

namespace npuscope::fleet {
namespace {

std::filesystem::path file_of(const std::filesystem::path& path) {
  std::error_code unknown;
  return std::filesystem::is_directory(path, unknown) ? path / "fleet.db" : path;
}

std::size_t end_of_scheme(const std::string& path) {
  const std::size_t begin = path.find("://");
  return begin == path.npos ? 0 : begin + 3;
}

}  // namespace

bool store_exists(const std::filesystem::path& path) {
  if (ClickHouseAddress::is_one(path.native())) {
    const auto address = ClickHouseAddress::parse(path.native());
    return !address || !ClickHouseStore::is_missing(*address);
  }
  std::error_code unknown;
  return std::filesystem::exists(file_of(path), unknown);
}

bool is_store(const std::string& path) {
  if (end_of_scheme(path) > 0) return true;
  std::error_code unknown;
  const std::filesystem::path file = file_of(path);
  return std::filesystem::is_regular_file(file, unknown) && begins_as_sqlite_store(file);
}

std::string store_name(const std::string& path) {
  if (!ClickHouseAddress::is_one(path)) {
    return end_of_scheme(path) > 0 ? path.substr(0, end_of_scheme(path)) : path;
  }
  const auto address = ClickHouseAddress::parse(path);
  return address ? address->name() : path.substr(0, end_of_scheme(path));
}

Result<std::unique_ptr<Store>> open_store(const std::filesystem::path& path, StoreMode mode,
                                          const query::Limits& limits) {
  if (ClickHouseAddress::is_one(path.native())) {
    const auto address = ClickHouseAddress::parse(path.native());
    if (!address) return tl::unexpected(address.error());
    return ClickHouseStore::open(*address, mode, limits);
  }
  if (const std::size_t end = end_of_scheme(path.native()); end > 0) {
    return usage_error(
        "{}: an unknown kind of store; name a file or folder, or clickhouse://host:8123/database",
        path.native().substr(0, end));
  }
  const std::filesystem::path file = file_of(path);
  if (!store_exists(path)) {
    if (mode != StoreMode::make) {
      return input_error("{}: no such store; npuscope fleet add makes one", file.string());
    }
  } else if (std::error_code unknown; !std::filesystem::is_regular_file(file, unknown)) {
    return input_error("{}: a device or pipe, not a store; name a file or folder", file.string());
  }
  return SqliteStore::open(file, mode, limits);
}

}  // namespace npuscope::fleet
