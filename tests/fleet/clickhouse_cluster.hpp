// A ClickHouse cluster of two shards for tests: Debian's clickhouse-server with the configuration
// of examples/clickhouse, on loopback ports that are free, in the test's folder, as the current
// user. It ends with the test program.
//
//   ClickHouseCluster* cluster = ClickHouseCluster::get();
//   if (cluster == nullptr) GTEST_SKIP() << ClickHouseCluster::why_not();
//   open_store(cluster->url("mine"), StoreMode::make)
//   cluster->kill(1), cluster->start(1);        // the second shard, as by kill -9
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace npuscope::fleet {

// One server, ended by SIGKILL with this object or with the test program.
class ClickHouseServer {
 public:
  // With a file system of its own for its data where `data_mebibytes` is not 0, of which a file
  // `filler` takes half (only as root).
  ClickHouseServer(std::filesystem::path folder, std::map<std::string, std::string> environment,
                   std::size_t data_mebibytes = 0);
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
  std::size_t data_mebibytes_;
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

class ClickHouseCluster {
 public:
  // Started at the first call; null where it cannot be.
  static ClickHouseCluster* get();
  static const char* why_not();
  ~ClickHouseCluster();
  ClickHouseCluster(const ClickHouseCluster&) = delete;
  ClickHouseCluster& operator=(const ClickHouseCluster&) = delete;

  static std::string host(std::size_t shard) { return shard == 0 ? "127.0.0.2" : "127.0.0.3"; }
  std::string url(const std::string& database, int port = 0, const std::string& more = "") const;
  int http_port() const { return ports_.http; }
  int tcp_port() const { return ports_.tcp; }
  // A statement on one shard; what is wrong, empty: nothing.
  std::string execute(const std::string& sql, const std::string& of = host(0)) const;
  ClickHouseServer& shard(std::size_t number) { return *shards_[number]; }

 private:
  ClickHouseCluster();

  std::filesystem::path folder_;
  ClickHousePorts ports_;
  std::vector<std::unique_ptr<ClickHouseServer>> shards_;
};

}  // namespace npuscope::fleet
