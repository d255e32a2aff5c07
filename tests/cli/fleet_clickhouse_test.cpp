// A store on ClickHouse, as a user names it: the commands of docs/fleet.md, and passwords that
// nobody sees.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"
#include "fleet/clickhouse_server.hpp"
#include "sanitized.hpp"

namespace npuscope::cli::fleet_clickhouse_test {
namespace {

namespace fs = std::filesystem;
using fleet::ClickHouseServer;
using testing::HasSubstr;
using testing::Not;

Outcome run_bash(const std::string& script) { return run_program_at("/bin/bash", {"-c", script}); }

// Listens and never answers.
class SilentServer {
 public:
  SilentServer() : handle_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(handle_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(handle_, 5), 0);
    getsockname(handle_, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
  }
  ~SilentServer() { close(handle_); }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;
  int port = 0;

 private:
  int handle_;
};

TEST(FleetOnClickHouse, APasswordIsNotInTheListOfProcesses) {
  const SilentServer server;
  // Two seconds at most, until the arguments are hidden. While a program begins it has none.
  const Outcome outcome =
      run_bash(fmt::format("'{}' fleet ls 'clickhouse://me:hidden-word@127.0.0.1:{}/x' & "
                           "for i in $(seq 200); do words=$(tr '\\0' ' ' < /proc/$!/cmdline); "
                           "case $words in ''|*hidden-word*|*bash*) sleep 0.01;; *) break;; esac; "
                           "done; echo \"$words\"; kill $!",
                           npuscope_program(), server.port));
  EXPECT_THAT(outcome.output, HasSubstr("fleet ls clickhouse://xxxxxxxxxxxxxx@127.0.0.1"));
}

TEST(FleetOnClickHouse, APasswordIsInNoError) {
  for (const char* host : {"127.0.0.1:1", "127.0.0.1:x", "host/a b"}) {
    const Outcome outcome =
        run_npuscope({"fleet", "ls", fmt::format("clickhouse://me:hidden-word@{}", host)});
    EXPECT_NE(outcome.status, 0);
    EXPECT_THAT(outcome.errors, Not(HasSubstr("hidden-word")));
  }
  EXPECT_EQ(run_npuscope({"fleet", "ls", "clickhouse://127.0.0.1:1/x"}).status, 3);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The commands of docs/fleet.md, and the lines that it shows of their output.
struct DocumentedCommands {
  std::vector<std::string> commands, lines;

  DocumentedCommands() {
    std::ifstream page(NPUSCOPE_SOURCE_DIR "/docs/fleet.md");
    bool is_there = false;
    for (std::string line; std::getline(page, line);) {
      if (line.starts_with("<!-- commands")) is_there = true;
      if (line.starts_with("<!-- end of commands")) is_there = false;
      if (!is_there || line.empty() || line.starts_with("```") || line.starts_with("<!--"))
        continue;
      if (line.starts_with("$ ")) {
        commands.push_back(line.substr(2));
      } else {
        lines.push_back(line);
      }
    }
  }
};

class ExampleCluster : public TraceFolder {
 protected:
  void TearDown() override {
    // Whatever the test came to.
    run_bash(
        fmt::format("for file in '{}'/shard*/pid; do kill -9 $(cat $file); done", path("cluster")));
    TraceFolder::TearDown();
  }
};

TEST_F(ExampleCluster, ThreeCommandsBringItUpFillItAndAnswer) {
  const DocumentedCommands page;
  ASSERT_EQ(page.commands.size(), 3u);
  ASSERT_GT(page.lines.size(), 5u);
  if (!ClickHouseServer::is_installed()) GTEST_SKIP() << "clickhouse-server is not installed";
  if (test_support::is_sanitized()) GTEST_SKIP() << "tests of fleet fill and ask servers, too";
  const fleet::ClickHousePorts ports = fleet::ClickHousePorts::free();
  Outcome last;
  for (std::string command : page.commands) {
    command = replaced(command, "start ~/npu-cluster",
                       fmt::format("start {} {} {}", path("cluster"), ports.http, ports.tcp));
    command = replaced(command, ":8123", fmt::format(":{}", ports.http));
    last = run_bash(fmt::format("cd '{}' && PATH='{}':$PATH && {}", NPUSCOPE_SOURCE_DIR,
                                fs::path(npuscope_program()).parent_path().string(), command));
    ASSERT_EQ(last.status, 0) << command << "\n" << last.output << last.errors;
  }
  const std::string output = replaced(last.output, fmt::format(":{}", ports.http), ":8123");
  for (const std::string& line : page.lines) EXPECT_THAT(output, HasSubstr(line + "\n"));
  const Outcome stopped = run_bash(fmt::format("'{}/examples/clickhouse/cluster' stop '{}'",
                                               NPUSCOPE_SOURCE_DIR, path("cluster")));
  EXPECT_EQ(stopped.status, 0) << stopped.errors;
}

}  // namespace
}  // namespace npuscope::cli::fleet_clickhouse_test
