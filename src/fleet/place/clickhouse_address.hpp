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
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "npuscope/base/result.hpp"

namespace npuscope::fleet {

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

}  // namespace npuscope::fleet
