// Where a fleet's store is, by its name and the first bytes of its file: what a program asks that
// does not open stores.
//
//   is_store("fleet.db")                                    // the file's head is that of a store
//   is_store("clickhouse://db1/npus")                       // true, whatever is there
//   store_name("clickhouse://me:secret@db1:8123/npus")      // "clickhouse://db1:8123/npus"
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "npuscope/base/result.hpp"

namespace npuscope::fleet {

// Where a store on ClickHouse is: a URL, and who asks.
//
//   const auto address =
//   ClickHouseAddress::parse("clickhouse://me:secret@db1:8123/npus?cluster=lab"); address->host,
//   address->port, address->database, address->cluster address->name()          //
//   "clickhouse://db1:8123/npus?cluster=lab": for pages and errors
//
// ?secure=1 asks by HTTPS, whose certificate is checked against the system's authorities or
// those of ?ca=FILE. ?patience=60 is how many seconds a batch is tried again. User and password
// may stand in NPUSCOPE_CLICKHOUSE_USER and NPUSCOPE_CLICKHOUSE_PASSWORD, or in the file that
// NPUSCOPE_CLICKHOUSE_NETRC names, else in ~/.netrc: not in the list of processes, which all see.
struct ClickHouseAddress {
  std::string host = "localhost";
  std::uint16_t port = 8123;
  bool is_secure = false;
  std::string ca_file;  // empty: the system's
  std::optional<std::string> user, password;
  std::string netrc_file;  // empty: ~/.netrc
  std::string database;
  std::string cluster;  // empty: one server
  std::chrono::seconds patience{300};

  static bool is_one(std::string_view text) { return text.starts_with("clickhouse://"); }
  // Whether a URL takes the text as the name of a machine.
  static bool is_host(std::string_view text);
  // A usage error, which never holds the password, for what is no such URL.
  static Result<ClickHouseAddress> parse(std::string_view text);

  // "http://db1:8123/": of one of the servers.
  std::string url(const std::string& of_host) const;
  // Without user and password.
  std::string name() const;
};

// SQLite's application_id of a store, "npuf".
inline constexpr int application_id = 0x6e707566;

// Whether that is the address of a store, a folder with fleet.db or a file that begins as a store's
// does.
bool is_store(const std::string& path);

// What pages and errors call the store that is opened so: without a password.
std::string store_name(const std::string& path);

// Of a folder its fleet.db.
std::filesystem::path file_of_store(const std::filesystem::path& path);

// How long "clickhouse://" is; 0 where the text begins with no scheme.
std::size_t end_of_scheme(const std::string& path);

}  // namespace npuscope::fleet
