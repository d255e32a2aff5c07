#include "fleet/clickhouse/clickhouse_store.hpp"
#include "fleet/place/store_place.hpp"
#include "fleet/sqlite/sqlite_store.hpp"
#include "fleet/store.hpp"

namespace npuscope::fleet {
bool store_exists(const std::filesystem::path& path) {
  if (ClickHouseAddress::is_one(path.native())) {
    const auto address = ClickHouseAddress::parse(path.native());
    return !address || !ClickHouseStore::is_missing(*address);
  }
  std::error_code unknown;
  return std::filesystem::exists(file_of_store(path), unknown);
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
  const std::filesystem::path file = file_of_store(path);
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
