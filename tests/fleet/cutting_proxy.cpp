#include "fleet/cutting_proxy.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fleet/clickhouse_cluster.hpp"

namespace npuscope::fleet {
namespace {

constexpr int look_milliseconds = 20;
constexpr std::string_view too_many_parts =
    "Code: 252, e.displayText() = DB::Exception: Too many parts (600). Merges are processing "
    "significantly slower than inserts., e.what() = DB::Exception";

sockaddr_in place(const std::string& host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(std::uint16_t(port));
  inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  return address;
}

bool is_readable(int handle) {
  pollfd look{handle, POLLIN, 0};
  return poll(&look, 1, look_milliseconds) > 0;
}

bool send_all(int handle, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(handle, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(std::size_t(sent));
  }
  return true;
}

// So that the other side sees a connection that broke, not one that ended.
void reset(int handle) {
  const linger now{1, 0};
  setsockopt(handle, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
}

}  // namespace

CuttingProxy::CuttingProxy(int server_port)
    : server_port_(server_port), port_(ClickHousePorts::free().http) {
  for (std::size_t i = 0; i < 2; ++i) listen_on(ClickHouseCluster::host(i));
}

CuttingProxy::~CuttingProxy() {
  is_over_ = true;
  for (std::thread& thread : threads_) thread.join();
  for (std::thread& thread : connections_) thread.join();
  for (const int listener : listeners_) close(listener);
}

void CuttingProxy::cut_requests_after(std::size_t bytes, int times, std::function<void()> then) {
  const std::lock_guard lock(mutex_);
  request_bytes_ = 0;
  cut_after_ = bytes, cuts_ = times, then_ = std::move(then);
}

void CuttingProxy::lose_answers_to(std::string table, int times) {
  const std::lock_guard lock(mutex_);
  table_ = std::move(table), losses_ = times;
}

void CuttingProxy::say_too_many_parts(int times) {
  const std::lock_guard lock(mutex_);
  refusals_ = times;
}

int CuttingProxy::left() const {
  const std::lock_guard lock(mutex_);
  return cuts_ + losses_ + refusals_;
}

void CuttingProxy::listen_on(const std::string& host) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  const sockaddr_in address = place(host, port_);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(listener, 16) != 0) {
    std::abort();
  }
  listeners_.push_back(listener);
  threads_.emplace_back([this, listener, host] {
    while (!is_over_) {
      if (!is_readable(listener)) continue;
      const int client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) continue;
      const std::lock_guard lock(mutex_);
      connections_.emplace_back([this, client, host] { serve(client, host); });
    }
  });
}

// False: the connection is to be closed.
bool CuttingProxy::may_pass(const std::string& bytes, bool is_first, int client,
                            bool& loses_answer) {
  std::function<void()> then;
  {
    const std::lock_guard lock(mutex_);
    const bool is_insert = is_first && bytes.find("query=INSERT") != bytes.npos;
    if (is_insert && refusals_ > 0) {
      refusals_ -= 1;
      send_all(client, fmt::format("HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\n"
                                   "Content-Length: {}\r\n\r\n{}",
                                   too_many_parts.size(), too_many_parts));
      shutdown(client, SHUT_WR);
      return false;
    }
    if (is_insert && losses_ > 0 && bytes.find("%60" + table_ + "%60") != bytes.npos) {
      losses_ -= 1;
      loses_answer = true;
    }
    request_bytes_ += bytes.size();
    if (cuts_ == 0 || request_bytes_ < cut_after_) return true;
    cuts_ -= 1;
    request_bytes_ = 0;
    then = then_;
  }
  if (then) then();
  reset(client);
  return false;
}

void CuttingProxy::serve(int client, const std::string& host) {
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = place(host, server_port_);
  bool is_open = connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  if (!is_open) reset(client);
  bool is_first = true, loses_answer = false;
  char buffer[16'384];
  while (is_open && !is_over_) {
    pollfd looks[] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
    if (poll(looks, 2, look_milliseconds) <= 0) continue;
    if (looks[0].revents != 0) {
      const ssize_t count = recv(client, buffer, sizeof(buffer), 0);
      if (count <= 0) break;
      const std::string bytes(buffer, std::size_t(count));
      if (!may_pass(bytes, is_first, client, loses_answer)) {
        // What came on is read, or the answer would be lost with the connection.
        while (is_readable(client) && recv(client, buffer, sizeof(buffer), 0) > 0) {
        }
        break;
      }
      is_first = false;
      is_open = send_all(server, bytes);
    }
    if (looks[1].revents != 0) {
      const ssize_t count = recv(server, buffer, sizeof(buffer), 0);
      if (count <= 0) break;
      if (loses_answer) {
        reset(client);
        break;
      }
      is_open = send_all(client, {buffer, std::size_t(count)});
    }
  }
  close(client);
  close(server);
}

}  // namespace npuscope::fleet
