// One server of ClickHouse: statements and rows to it, answers and what they mean.
//
//   auto server = Server::open(address, "db1");
//   server->execute("CREATE DATABASE …");
//   server->insert("op_runs_rows", body);
//   server->select("SELECT …", limits, sink);
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "fleet/clickhouse/http.hpp"
#include "npuscope/query/database.hpp"

namespace npuscope::fleet {

struct ServerReply {
  enum class Kind : std::uint8_t {
    done,
    refused,  // by the server: nothing has happened
    broken,   // the connection or the server did not hold: unknown what has happened
    absent,   // no connection could be made: nothing has happened
    late,     // the time was over
  };
  Kind kind = Kind::done;
  int code = 0;  // the server's, of what it refused
  std::string text;

  bool done() const { return kind == Kind::done; }
  // Too much at once: what was refused may succeed later.
  bool is_busy() const;
  // It is not the statement that is wrong, but the server or the way to it.
  bool may_pass() const;
  bool is_unknown_database() const;
  bool is_out_of_time() const;
  bool is_only_for_reading() const;
  bool is_about_statement() const;  // what is wrong is in its text
};

class Server {
 public:
  static Result<std::unique_ptr<Server>> open(const ClickHouseAddress& address,
                                              const std::string& host);

  // "db1:8123"
  const std::string& name() const { return name_; }

  // A statement without an answer. `database`: that in which names without one are.
  ServerReply execute(std::string_view sql, std::string_view database);
  ServerReply insert(std::string_view table, std::string_view columns, std::string_view body);
  // Rows that were found before a failure have been handed on.
  ServerReply select(std::string_view sql, const query::Limits& limits, query::RowSink& sink);
  // Few rows, as texts ("" for NULL); also where there is no database yet. Refused where the answer
  // has another number of columns.
  using TextRows = std::vector<std::vector<std::string>>;
  ServerReply select_of_system(std::size_t columns, std::string_view sql, TextRows& rows);

  // A sentence.
  Error error_of(const ServerReply& reply, ErrorKind kind) const;

 private:
  Server(const ClickHouseAddress& address, const std::string& host,
         std::unique_ptr<HttpConnection> http);

  ServerReply select_from(std::string_view database, std::string_view sql,
                          const query::Limits& limits, query::RowSink& sink);

  std::string name_, database_;
  std::unique_ptr<HttpConnection> http_;
};

}  // namespace npuscope::fleet
