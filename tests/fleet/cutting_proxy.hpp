// A way to the shards of a test's cluster that does not hold: it listens on the shards' hosts at a
// port of its own and hands bytes on, until its plan says otherwise.
//
//   CuttingProxy proxy(cluster->http_port());
//   proxy.cut_requests_after(10'000, 1);     // once, when so many bytes of requests have gone by
//   open_store(cluster->url("mine", proxy.port()), StoreMode::write)
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace npuscope::fleet {

class CuttingProxy {
 public:
  explicit CuttingProxy(int server_port);
  ~CuttingProxy();
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;

  int port() const { return port_; }

  // The connection that is used then is closed, `then` is called before.
  void cut_requests_after(std::size_t bytes, int times, std::function<void()> then = {});
  // Requests that begin with an INSERT into the table arrive, their answers do not.
  void lose_answers_to(std::string table, int times);
  // Inserts are answered by the proxy, as a server does that has too many parts.
  void say_too_many_parts(int times);

  std::size_t request_bytes() const { return request_bytes_; }
  int left() const;  // of `times`

 private:
  void listen_on(const std::string& host);
  void serve(int client, const std::string& host);
  bool may_pass(const std::string& bytes, bool is_first, int client, bool& loses_answer);

  int server_port_, port_ = 0;
  std::atomic<bool> is_over_ = false;
  std::atomic<std::size_t> request_bytes_ = 0;
  mutable std::mutex mutex_;
  std::size_t cut_after_ = 0;
  int cuts_ = 0, losses_ = 0, refusals_ = 0;
  std::string table_;
  std::function<void()> then_;
  std::vector<int> listeners_;
  std::vector<std::thread> threads_, connections_;
};

}  // namespace npuscope::fleet
