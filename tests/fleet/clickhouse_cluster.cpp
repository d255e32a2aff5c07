#include "fleet/clickhouse_cluster.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "fleet/clickhouse/server.hpp"

namespace npuscope::fleet {

namespace fs = std::filesystem;

ClickHouseCluster::ClickHouseCluster()
    : folder_(fs::temp_directory_path() / fmt::format("npuscope-clickhouse-{}", getpid())),
      ports_(ClickHousePorts::free()) {
  for (std::size_t i = 0; i < 2; ++i) {
    const fs::path folder = folder_ / fmt::format("shard{}", i + 1);
    shards_.push_back(
        std::make_unique<ClickHouseServer>(folder, environment_of(folder, host(i), ports_)));
  }
}

ClickHouseCluster* ClickHouseCluster::get() {
  static const std::unique_ptr<ClickHouseCluster> cluster = [] {
    std::unique_ptr<ClickHouseCluster> made;
    if (!ClickHouseServer::is_installed()) return made;
    made.reset(new ClickHouseCluster);
    for (std::size_t i = 0; i < 2; ++i) {
      if (made->shard(i).waits_for_requests()) continue;
      made.reset();
      break;
    }
    return made;
  }();
  return cluster.get();
}

const char* ClickHouseCluster::why_not() {
  return ClickHouseServer::is_installed()
             ? "clickhouse-server does not start; start examples/clickhouse/cluster to see why"
             : "clickhouse-server is not installed; apt-get install clickhouse-server";
}

// At the end of the program.
ClickHouseCluster::~ClickHouseCluster() {
  shards_.clear();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string ClickHouseCluster::execute(const std::string& sql, const std::string& of) const {
  ClickHouseAddress address;
  address.host = of;
  address.port = std::uint16_t(ports_.http);
  const auto server = Server::open(address, address.host);
  if (!server) return server.error().message;
  return (*server)->execute(sql, "system").text;
}

std::string ClickHouseCluster::url(const std::string& database, int port,
                                   const std::string& more) const {
  return fmt::format("clickhouse://{}:{}/{}?cluster=fleet{}", host(0),
                     port != 0 ? port : ports_.http, database, more);
}

}  // namespace npuscope::fleet
