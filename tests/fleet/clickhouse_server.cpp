#include "fleet/clickhouse_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace npuscope::fleet {
namespace {

namespace fs = std::filesystem;

constexpr const char* program = "/usr/sbin/clickhouse-server";

sockaddr_in address_of(const std::string& host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(std::uint16_t(port));
  inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  return address;
}

// The port that it was bound to; 0: none.
int bound_port(const std::string& host, int port) {
  const int handle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = address_of(host, port);
  socklen_t size = sizeof(address);
  const bool is_bound = bind(handle, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                        getsockname(handle, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(handle);
  return is_bound ? ntohs(address.sin_port) : 0;
}

bool accepts(const std::string& host, int port) {
  const int handle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = address_of(host, port);
  const bool is_there =
      connect(handle, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  close(handle);
  return is_there;
}

int free_port() {
  for (int attempt = 0; attempt < 100; ++attempt) {
    const int port = bound_port("127.0.0.2", 0);
    if (port != 0 && bound_port("127.0.0.3", port) == port) return port;
  }
  return 0;
}

void fill_with_zeros(const std::string& file, std::size_t mebibytes) {
  const int handle = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  static const char zeros[1 << 20] = {};
  for (std::size_t i = 0; i < mebibytes; ++i) {
    if (write(handle, zeros, sizeof(zeros)) < 0) break;
  }
  close(handle);
}

}  // namespace

ClickHousePorts ClickHousePorts::free() {
  ClickHousePorts ports;
  ports.http = free_port();
  do {
    ports.tcp = free_port();
  } while (ports.tcp == ports.http);
  return ports;
}

std::map<std::string, std::string> environment_of(const fs::path& folder, const std::string& host,
                                                  const ClickHousePorts& ports) {
  return {{"NPUSCOPE_SHARD_HOST", host},
          {"NPUSCOPE_SHARD_DATA", (folder / "data").string() + "/"},
          {"NPUSCOPE_SHARD_TEMPORARY", (folder / "temporary").string() + "/"},
          {"NPUSCOPE_SHARD_LOG", (folder / "server.log").string()},
          {"NPUSCOPE_SHARD_ERRORS", (folder / "errors.log").string()},
          {"NPUSCOPE_HTTP_PORT", fmt::format("{}", ports.http)},
          {"NPUSCOPE_TCP_PORT", fmt::format("{}", ports.tcp)},
          {"NPUSCOPE_USERS", NPUSCOPE_SOURCE_DIR "/examples/clickhouse/users.xml"}};
}

bool ClickHouseServer::is_installed() { return access(program, X_OK) == 0; }

ClickHouseServer::ClickHouseServer(fs::path folder, std::map<std::string, std::string> environment,
                                   ServerOptions options)
    : folder_(std::move(folder)),
      environment_(std::move(environment)),
      options_(std::move(options)) {
  fs::create_directories(folder_ / "data");
  start();
}

void ClickHouseServer::start() {
  const pid_t parent = getpid();
  const std::string data = (folder_ / "data").string(), output = (folder_ / "output.log").string();
  const std::string size = fmt::format("size={}m", options_.data_mebibytes);
  std::vector<std::string> words{
      program, "--config-file=" NPUSCOPE_SOURCE_DIR "/examples/clickhouse/server.xml", "--"};
  for (const std::string& setting : options_.settings) words.push_back("--" + setting);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment_) variables.push_back(name + "=" + value);
  std::vector<char*> pointers;
  for (std::string& variable : variables) pointers.push_back(variable.data());
  pointers.push_back(nullptr);
  process_ = fork();
  if (process_ != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  if (options_.data_mebibytes > 0) {
    const bool has_own = unshare(CLONE_NEWNS) == 0 &&
                         mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         mount("tmpfs", data.c_str(), "tmpfs", 0, size.c_str()) == 0;
    if (!has_own) _exit(1);
    fill_with_zeros(data + "/filler", options_.data_mebibytes / 2);
  }
  const int log = open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(nothing, 0), dup2(log, 1), dup2(log, 2);
  if (chdir(folder_.c_str()) != 0) _exit(1);
  execve(program, arguments.data(), pointers.data());
  _exit(1);
}

void ClickHouseServer::kill() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = -1;
}

bool ClickHouseServer::waits_for_requests() const {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (std::chrono::steady_clock::now() < end) {
    const auto port = [&](const char* name) { return std::stoi(environment_.at(name)); };
    const std::string& host = environment_.at("NPUSCOPE_SHARD_HOST");
    if (accepts(host, port("NPUSCOPE_HTTP_PORT")) && accepts(host, port("NPUSCOPE_TCP_PORT"))) {
      return true;
    }
    if (waitpid(process_, nullptr, WNOHANG) != 0) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

fs::path ClickHouseServer::own(const fs::path& path) const {
  return fmt::format("/proc/{}/root{}", process_, path.string());
}

}  // namespace npuscope::fleet
