// HTTP to one server, by libcurl, which is loaded when the first store on a server is named:
// programs that ask no server neither load it nor what it needs (OpenSSL and more).
//
//   auto http = HttpConnection::open(address, "db1");
//   const HttpReply reply = (*http)->post({.query = "?query=…", .body = rows});
//   reply.status      // 200, or 0 where the connection did not hold: reply.text says why
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "fleet/place/store_place.hpp"

namespace npuscope::fleet {

struct HttpRequest {
  std::string query;  // "?…", appended to the URL
  std::string_view body;
  // A new connection: libcurl would send what went out on an old one that broke a second time.
  bool is_once = false;
  std::chrono::milliseconds time{30'000};  // for all of it
  // Takes a successful body in pieces, false: no more. Without it the body is thrown away.
  std::function<bool(std::string_view)> take = {};
};

struct HttpReply {
  long status = 0;        // 0: none came
  std::string text;       // what the server said of a failure, its beginning; or why none came
  bool is_whole = false;  // the answer came to its end, or `take` wanted no more
  bool is_late = false;   // the time was over
  bool was_sent = true;   // false: no connection could be made
};

class HttpConnection {
 public:
  virtual ~HttpConnection() = default;
  // An input error where libcurl is not installed.
  static Result<std::unique_ptr<HttpConnection>> open(const ClickHouseAddress& address,
                                                      const std::string& host);
  virtual HttpReply post(const HttpRequest& request) = 0;
};

// "a%20b": a text within a URL.
std::string url_encoded(std::string_view text);

}  // namespace npuscope::fleet
