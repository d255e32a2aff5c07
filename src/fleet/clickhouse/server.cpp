#include "fleet/clickhouse/server.hpp"

#include <algorithm>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "fleet/clickhouse/tab_separated.hpp"

namespace npuscope::fleet {
namespace {

using Kind = ServerReply::Kind;

constexpr std::chrono::minutes statement_time{2}, insert_time{10};

// Codes of ClickHouse (src/Common/ErrorCodes.cpp of it).
enum Code : int {
  unreadable = -1,   // of npuscope: an answer in another format
  end_of_file = 32,  // another server's connection, cut
  short_data = 33,
  unknown_database = 81,
  unknown_table = 60,
  timeout_exceeded = 159,
  too_slow = 160,
  read_only = 164,
  unknown_user = 192,
  wrong_password = 193,
  required_password = 194,
  address_not_allowed = 195,
  too_many_queries = 202,
  socket_timeout = 209,
  network_error = 210,
  memory_limit = 241,
  no_space = 243,
  too_many_parts = 252,
  no_connection = 279,
  cancelled = 394,
  access_denied = 497,
  authentication_failed = 516,
};

// "Code: 60, e.displayText() = DB::Exception: Table x doesn't exist., e.what() = …", of newer ones
// "Code: 60. DB::Exception: Table x doesn't exist. (UNKNOWN_TABLE) (version …)".
ServerReply refusal_of(long status, std::string_view text) {
  ServerReply reply{Kind::refused, 0, ""};
  std::string_view rest = text;
  if (!rest.starts_with("Code: ")) {
    reply.text = fmt::format("it answers, but not as ClickHouse does (HTTP status {})", status);
    return reply;
  }
  rest.remove_prefix(6);
  reply.code = take_number<int>(rest).value_or(0);
  for (const std::string_view mark :
       {"DB::Exception: ", "DB::NetException: ", "DB::ErrnoException: "}) {
    if (const std::size_t begin = rest.rfind(mark); begin != rest.npos) {
      rest = rest.substr(begin + mark.size());
      break;
    }
  }
  for (const std::string_view end : {", e.what() = ", " (version ", "\\x0a"}) {
    rest = rest.substr(0, rest.find(end));
  }
  while (rest.ends_with('.') || rest.ends_with(' ')) rest.remove_suffix(1);
  reply.text = rest;
  return reply;
}

ServerReply reply_of(const HttpReply& http) {
  if (http.status == 200 && http.is_whole) return {};
  if (http.status != 0) return refusal_of(http.status, http.text);
  const Kind kind = !http.was_sent ? Kind::absent : http.is_late ? Kind::late : Kind::broken;
  return {kind, 0, http.text};
}

// Rows of as many columns as were asked for.
class KeepTexts : public query::RowSink {
 public:
  KeepTexts(std::size_t columns, Server::TextRows& rows) : columns_(columns), rows_(rows) {}

  bool fits() const { return fits_; }
  void columns(const std::vector<std::string>& names) override { fits_ = names.size() == columns_; }
  bool row(std::span<const query::Cell> cells) override {
    if (!fits_) return false;
    std::vector<std::string>& row = rows_.emplace_back();
    struct Text {
      std::string operator()(std::monostate) const { return ""; }
      std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
      std::string operator()(double number) const { return fmt::format("{}", number); }
      std::string operator()(std::string_view text) const { return std::string(text); }
      std::string operator()(ByteSpan) const { return ""; }
    };
    for (const query::Cell& cell : cells) row.push_back(std::visit(Text{}, cell));
    return true;
  }

 private:
  std::size_t columns_;
  Server::TextRows& rows_;
  bool fits_ = true;
};

std::string setting(std::string_view name, auto value) {
  return fmt::format("&{}={}", name, value);
}

}  // namespace

bool ServerReply::is_busy() const {
  return kind == Kind::refused && (code == too_many_parts || code == too_many_queries);
}

bool ServerReply::may_pass() const {
  if (kind == Kind::broken || kind == Kind::absent || is_busy()) return true;
  return kind == Kind::refused &&
         (code == socket_timeout || code == network_error || code == no_connection ||
          code == end_of_file || code == short_data || code == cancelled);
}

bool ServerReply::is_unknown_database() const {
  return kind == Kind::refused && code == unknown_database;
}

bool ServerReply::is_out_of_time() const {
  return kind == Kind::refused && (code == timeout_exceeded || code == too_slow);
}

bool ServerReply::is_only_for_reading() const { return kind == Kind::refused && code == read_only; }

bool ServerReply::is_about_statement() const {
  if (kind != Kind::refused || code == 0 || may_pass()) return false;
  constexpr int others[] = {unknown_user,  wrong_password,      required_password,
                            no_space,      address_not_allowed, authentication_failed,
                            access_denied, memory_limit};
  return std::find(std::begin(others), std::end(others), code) == std::end(others);
}

Server::Server(const ClickHouseAddress& address, const std::string& host,
               std::unique_ptr<HttpConnection> http)
    : name_(fmt::format("{}:{}", host, address.port)),
      database_(address.database),
      http_(std::move(http)) {}

Result<std::unique_ptr<Server>> Server::open(const ClickHouseAddress& address,
                                             const std::string& host) {
  TRY_AS(http, HttpConnection::open(address, host));
  return std::unique_ptr<Server>(new Server(address, host, std::move(*http)));
}

ServerReply Server::execute(std::string_view sql, std::string_view database) {
  HttpRequest request;
  request.query = "?database=" + url_encoded(database) + setting("max_query_size", 16 << 20) +
                  setting("max_ast_elements", 1'000'000);
  request.body = sql;
  request.time = statement_time;
  return reply_of(http_->post(request));
}

ServerReply Server::insert(std::string_view table, std::string_view columns,
                           std::string_view body) {
  HttpRequest request;
  request.query =
      fmt::format("?database={}&decompress=1{}&query={}", url_encoded(database_),
                  setting("http_native_compression_disable_checksumming_on_decompress", 1),
                  url_encoded(fmt::format("INSERT INTO `{}` ({}) FORMAT Native", table, columns)));
  request.body = body;
  request.is_once = true;
  request.time = insert_time;
  return reply_of(http_->post(request));
}

ServerReply Server::select(std::string_view sql, const query::Limits& limits,
                           query::RowSink& sink) {
  return select_from(database_, sql, limits, sink);
}

ServerReply Server::select_of_system(std::size_t columns, std::string_view sql, TextRows& rows) {
  KeepTexts keep(columns, rows);
  ServerReply reply = select_from("system", sql, {.time = statement_time}, keep);
  if (!reply.done() || keep.fits()) return reply;
  return {Kind::refused, unreadable, "it answers, but not as ClickHouse does (other columns)"};
}

ServerReply Server::select_from(std::string_view database, std::string_view sql,
                                const query::Limits& limits, query::RowSink& sink) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(limits.time);
  HttpRequest request;
  // Joins are by run, whose rows lie on one shard, so each shard joins its own. An answer that
  // fails halfway is one that fails, not one that is short.
  request.query = fmt::format(
      "?database={}&default_format=TabSeparatedWithNamesAndTypes{}{}{}{}{}{}{}{}",
      url_encoded(database), setting("wait_end_of_query", 1),
      setting("join_default_strictness", "ALL"), setting("join_use_nulls", 1),
      setting("distributed_product_mode", "local"), setting("max_execution_time", seconds.count()),
      setting("max_query_size", 16 << 20), setting("max_ast_elements", 1'000'000),
      setting("readonly", 2));
  request.body = sql;
  request.time = limits.time + std::chrono::seconds(10);
  TabSeparated rows(sink);
  request.take = [&](std::string_view bytes) { return rows.take(bytes); };
  ServerReply reply = reply_of(http_->post(request));
  if (!reply.done()) return reply;
  if (const Status whole = rows.finish(); !whole) {
    return {Kind::refused, unreadable, whole.error().message};
  }
  return reply;
}

Error Server::error_of(const ServerReply& reply, ErrorKind kind) const {
  const auto error = [&](ErrorKind of, std::string_view what) {
    return Error{of, fmt::format("{}: {} ({})", name_, what, reply.text)};
  };
  if (reply.kind == Kind::absent) {
    return error(kind, "the server cannot be reached; check host, port and whether it runs");
  }
  if (reply.kind == Kind::broken) {
    return error(kind, "the connection broke; check the server's log and try again");
  }
  if (reply.kind == Kind::late) return error(kind, "the server gave no answer in time; try again");
  switch (reply.code) {
    case unknown_user:
    case wrong_password:
    case required_password:
    case address_not_allowed:
    case authentication_failed:
      return {kind, fmt::format("{}: the server refuses this user or password; set "
                                "NPUSCOPE_CLICKHOUSE_USER and NPUSCOPE_CLICKHOUSE_PASSWORD",
                                name_)};
    case access_denied: return error(kind, "this user may not do that; ask for the right");
    case no_space:
      return error(ErrorKind::output,
                   "the server's disk is full, nothing of this batch was kept; make room");
    case too_many_parts:
    case too_many_queries: return error(kind, "the server is busy and stayed so; try again later");
    case no_connection:
    case socket_timeout:
    case network_error:
      return error(kind, "another server of the cluster cannot be reached; check that all run");
    case memory_limit:
      return error(kind, "the answer needs more memory than the server gives; choose fewer runs");
    default: break;
  }
  if (reply.text.find("No space left on device") != std::string::npos ||
      reply.text.find("errno: 28") != std::string::npos) {
    return error(ErrorKind::output,
                 "the server's disk is full, nothing of this batch was kept; make room");
  }
  return {kind, fmt::format("{}: {}; check the server", name_, reply.text)};
}

}  // namespace npuscope::fleet
