// One ClickHouse server for tests: Debian's clickhouse-server with the configuration of
// examples/clickhouse, on loopback ports that are free, as the current user.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace npuscope::fleet {

struct ServerOptions {
  // A file system of its own for its data, of which a file `filler` takes half (only as root).
  std::size_t data_mebibytes = 0;
  std::vector<std::string> settings = {};  // "https_port=8443"
};

// One server, ended by SIGKILL with this object or with the test program.
class ClickHouseServer {
 public:
  ClickHouseServer(std::filesystem::path folder, std::map<std::string, std::string> environment,
                   ServerOptions options = {});
  ~ClickHouseServer() { kill(); }
  ClickHouseServer(const ClickHouseServer&) = delete;
  ClickHouseServer& operator=(const ClickHouseServer&) = delete;

  void start();
  void kill();
  bool waits_for_requests() const;  // after at most a minute
  // Its files as it sees them.
  std::filesystem::path own(const std::filesystem::path& path) const;

  static bool is_installed();

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::string> environment_;
  ServerOptions options_;
  pid_t process_ = -1;
};

struct ClickHousePorts {
  int http = 0, tcp = 0;
  static ClickHousePorts free();
};

// What the configuration of examples/clickhouse asks for.
std::map<std::string, std::string> environment_of(const std::filesystem::path& folder,
                                                  const std::string& host,
                                                  const ClickHousePorts& ports);

}  // namespace npuscope::fleet
