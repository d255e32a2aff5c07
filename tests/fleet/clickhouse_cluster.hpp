// A ClickHouse cluster of two shards for tests: Debian's clickhouse-server with the configuration
// of examples/clickhouse, on loopback ports that are free, in the test's folder, as the current
// user. It ends with the test program.
//
//   ClickHouseCluster* cluster = ClickHouseCluster::get();
//   if (cluster == nullptr) GTEST_SKIP() << ClickHouseCluster::why_not();
//   open_store(cluster->url("mine"), StoreMode::make)
//   cluster->kill(1), cluster->start(1);        // the second shard, as by kill -9
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fleet/clickhouse_server.hpp"

namespace npuscope::fleet {

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
