#include "fleet/place/store_place.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace npuscope::fleet {
namespace {

constexpr std::string_view scheme = "clickhouse://";
constexpr const char* form = "write clickhouse://user@host:8123/database?cluster=name";

// "%40" is "@". Nothing where the digits are none.
std::optional<std::string> decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    const auto byte = parse_number<std::uint8_t>(digits, 16);
    if (!byte || digits.size() != 2) return std::nullopt;
    plain += char(*byte);
    i += 2;
  }
  return plain;
}

// What stands in SQL as it is, in backquotes.
bool is_plain(std::string_view name) {
  if (name.empty() || name.size() > 100) return false;
  for (const char c : name) {
    if (!is_letter(c) && !is_digit(c) && c != '_' && c != '-' && c != '.') return false;
  }
  return true;
}

// Up to the first of the marks, which is taken as well; all of it where there is none.
std::string_view take_until(std::string_view& text, char mark) {
  const std::size_t end = text.find(mark);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return taken;
}

Status read_place(std::string_view place, ClickHouseAddress& address) {
  std::string_view host = place, port;
  if (place.starts_with('[')) {
    const std::size_t end = place.find(']');
    if (end == place.npos) return usage_error("the host has no ]; {}", form);
    host = place.substr(1, end - 1);
    port = place.substr(end + 1);
  } else if (const std::size_t colon = place.rfind(':'); colon != place.npos) {
    host = place.substr(0, colon);
    port = place.substr(colon);
  }
  if (!ClickHouseAddress::is_host(host))
    return usage_error("the host is missing or not a name; {}", form);
  address.host = host;
  if (port.empty()) {
    if (address.is_secure) address.port = 8443;
    return {};
  }
  const auto number = parse_number<std::uint16_t>(port.substr(1));
  if (!number || *number == 0 || port[0] != ':') {
    return usage_error("the port is not a number from 1 to 65535; {}", form);
  }
  address.port = *number;
  return {};
}

Status read_option(std::string_view option, ClickHouseAddress& address) {
  const std::string_view key = take_until(option, '=');
  const auto value = decoded(option);
  if (key == "cluster") {
    if (!value || !is_plain(*value)) return usage_error("cluster is not a name; {}", form);
    address.cluster = *value;
  } else if (key == "secure") {
    if (!value || (*value != "0" && *value != "1")) return usage_error("secure must be 0 or 1");
    address.is_secure = *value == "1";
  } else if (key == "ca") {
    if (!value || value->empty()) return usage_error("ca must be a file of certificates");
    address.ca_file = *value;
  } else if (key == "patience") {
    const auto seconds = value ? parse_number<std::uint32_t>(*value) : std::nullopt;
    if (!seconds || *seconds > 86'400) {
      return usage_error("patience must be seconds from 0 to 86400");
    }
    address.patience = std::chrono::seconds(*seconds);
  } else {
    return usage_error("unknown option '{}'; there are cluster, secure, ca and patience",
                       printable(key));
  }
  return {};
}

Status read_who(std::string_view who, ClickHouseAddress& address) {
  const bool has_password = who.find(':') != who.npos;
  auto user = decoded(take_until(who, ':')), password = decoded(who);
  if (!user || !password) return usage_error("a % in user or password is not %25; write %25");
  if (!user->empty()) address.user = std::move(*user);
  if (has_password) address.password = std::move(*password);
  return {};
}

Status read(std::string_view text, ClickHouseAddress& address) {
  text.remove_prefix(scheme.size());
  std::string_view options = text;
  std::string_view before = take_until(options, '?');
  while (!options.empty()) {
    if (const Status done = read_option(take_until(options, '&'), address); !done) return done;
  }
  // A password may have a slash in it, so the last @ counts.
  if (const std::size_t at = before.rfind('@'); at != before.npos) {
    if (const Status done = read_who(before.substr(0, at), address); !done) return done;
    before.remove_prefix(at + 1);
  }
  const std::string_view place = take_until(before, '/');
  if (const Status done = read_place(place, address); !done) return done;
  if (before.ends_with('/')) before.remove_suffix(1);
  address.database = before.empty() ? "npuscope" : before;
  if (!is_plain(address.database)) return usage_error("the database is not a name; {}", form);
  return {};
}

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace

bool ClickHouseAddress::is_host(std::string_view text) {
  if (text.empty() || text.size() > 255) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.' || c == ':';
  });
}

Result<ClickHouseAddress> ClickHouseAddress::parse(std::string_view text) {
  ClickHouseAddress address;
  if (const Status done = read(text, address); !done) {
    return usage_error("clickhouse://: {}", done.error().message);
  }
  if (!address.user) address.user = variable("NPUSCOPE_CLICKHOUSE_USER");
  if (!address.password) address.password = variable("NPUSCOPE_CLICKHOUSE_PASSWORD");
  address.netrc_file = variable("NPUSCOPE_CLICKHOUSE_NETRC").value_or("");
  return address;
}

std::string ClickHouseAddress::url(const std::string& of_host) const {
  const bool is_number = of_host.find(':') != of_host.npos;
  return fmt::format("{}://{}{}{}:{}/", is_secure ? "https" : "http", is_number ? "[" : "", of_host,
                     is_number ? "]" : "", port);
}

std::string ClickHouseAddress::name() const {
  const bool is_number = host.find(':') != host.npos;
  return fmt::format("clickhouse://{}{}{}:{}/{}{}{}", is_number ? "[" : "", host,
                     is_number ? "]" : "", port, database,
                     cluster.empty() ? "" : "?cluster=", cluster);
}

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
