#include "fleet/clickhouse/http.hpp"

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include <algorithm>
#include <array>

#include "base/loaded_library.hpp"
#include "base/text.hpp"

namespace npuscope::fleet {
namespace {

constexpr long connect_seconds = 10;
constexpr std::size_t max_failure_bytes = 16 << 10;

// The functions of libcurl that are called.
struct Curl {
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_perform) easy_perform = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
  bool is_loaded = false;

  static const Curl& get() {
    static const Curl curl;
    return curl;
  }

 private:
  Curl() {
    for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl-nss.so.4"}) {
      LoadedLibrary library = LoadedLibrary::open(name);
      if (!library) continue;
      is_loaded = library.find("curl_global_init", global_init) &&
                  library.find("curl_easy_init", easy_init) &&
                  library.find("curl_easy_setopt", easy_setopt) &&
                  library.find("curl_easy_perform", easy_perform) &&
                  library.find("curl_easy_getinfo", easy_getinfo) &&
                  library.find("curl_easy_cleanup", easy_cleanup) &&
                  library.find("curl_easy_strerror", easy_strerror) &&
                  library.find("curl_slist_append", slist_append) &&
                  library.find("curl_slist_free_all", slist_free_all) &&
                  global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
      if (!is_loaded) continue;
      library.keep();
      return;
    }
  }
};

class CurlConnection : public HttpConnection {
 public:
  CurlConnection(const ClickHouseAddress& address, const std::string& host)
      : curl_(Curl::get()), handle_(curl_.easy_init()), url_(address.url(host)) {
    if (handle_ == nullptr) return;
    // libcurl would ask whether it may send, and old servers never say.
    headers_ = curl_.slist_append(nullptr, "Expect:");
    set(CURLOPT_HTTPHEADER, headers_);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_PROXY, "");
    set(CURLOPT_USERAGENT, "npuscope");
    set(CURLOPT_CONNECTTIMEOUT, connect_seconds);
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_POST, 1L);
    set(CURLOPT_WRITEFUNCTION, &CurlConnection::take_bytes);
    set(CURLOPT_WRITEDATA, static_cast<void*>(this));
    set(CURLOPT_ERRORBUFFER, problem_.data());
    set(CURLOPT_HTTPAUTH, long(CURLAUTH_BASIC));
    if (!address.ca_file.empty()) set(CURLOPT_CAINFO, address.ca_file.c_str());
    if (address.user || address.password) {
      set(CURLOPT_USERNAME, address.user.value_or("default").c_str());
      set(CURLOPT_PASSWORD, address.password.value_or("").c_str());
    } else {
      set(CURLOPT_NETRC, long(CURL_NETRC_OPTIONAL));
      if (!address.netrc_file.empty()) set(CURLOPT_NETRC_FILE, address.netrc_file.c_str());
    }
  }
  ~CurlConnection() override {
    if (handle_ != nullptr) curl_.easy_cleanup(handle_);
    curl_.slist_free_all(headers_);
  }
  CurlConnection(const CurlConnection&) = delete;
  CurlConnection& operator=(const CurlConnection&) = delete;

  bool good() const { return handle_ != nullptr; }

  HttpReply post(const HttpRequest& request) override {
    request_ = &request;
    reply_ = {};
    has_enough_ = false;
    problem_[0] = '\0';
    const std::string url = url_ + request.query;
    set(CURLOPT_URL, url.c_str());
    set(CURLOPT_POSTFIELDS, request.body.data() != nullptr ? request.body.data() : "");
    set(CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.size()));
    set(CURLOPT_FRESH_CONNECT, long(request.is_once));
    set(CURLOPT_TIMEOUT_MS, long(request.time.count()));
    const CURLcode code = curl_.easy_perform(handle_);
    curl_.easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &reply_.status);
    reply_.is_whole = code == CURLE_OK || has_enough_;
    if (!reply_.is_whole) {
      reply_.is_late = code == CURLE_OPERATION_TIMEDOUT;
      reply_.was_sent = code != CURLE_COULDNT_CONNECT && code != CURLE_COULDNT_RESOLVE_HOST &&
                        code != CURLE_PEER_FAILED_VERIFICATION && code != CURLE_SSL_CACERT_BADFILE;
      reply_.text = problem_[0] != '\0' ? problem_.data() : curl_.easy_strerror(code);
      reply_.status = 0;
    }
    reply_.text = printable(reply_.text);
    return std::move(reply_);
  }

 private:
  template <class Value>
  void set(CURLoption option, Value value) {
    curl_.easy_setopt(handle_, option, value);
  }

  static std::size_t take_bytes(char* bytes, std::size_t, std::size_t count, void* self) {
    return static_cast<CurlConnection*>(self)->take({bytes, count}) ? count : 0;
  }

  bool take(std::string_view bytes) {
    long status = 0;
    curl_.easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) {
      const std::size_t room = max_failure_bytes - std::min(max_failure_bytes, reply_.text.size());
      reply_.text += bytes.substr(0, room);
      return true;
    }
    if (!request_->take) return true;
    has_enough_ = !request_->take(bytes);
    return !has_enough_;
  }

  const Curl& curl_;
  CURL* handle_ = nullptr;
  curl_slist* headers_ = nullptr;
  std::string url_;
  std::array<char, CURL_ERROR_SIZE> problem_{};
  const HttpRequest* request_ = nullptr;
  HttpReply reply_;
  bool has_enough_ = false;
};

}  // namespace

Result<std::unique_ptr<HttpConnection>> HttpConnection::open(const ClickHouseAddress& address,
                                                             const std::string& host) {
  if (!Curl::get().is_loaded) {
    return input_error("{}: needs libcurl; install the package libcurl4", address.name());
  }
  auto connection = std::make_unique<CurlConnection>(address, host);
  if (!connection->good()) return input_error("{}: libcurl does not start", address.name());
  return connection;
}

std::string url_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.') {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

}  // namespace npuscope::fleet
