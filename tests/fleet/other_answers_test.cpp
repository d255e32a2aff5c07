// What runs at an address may be no ClickHouse, and another program may have written the file.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "fleet/small_fleet.hpp"

namespace npuscope::fleet::other_answers_test {
namespace {

using testing::HasSubstr;

// Answers every request with the same text.
class OneAnswerServer {
 public:
  explicit OneAnswerServer(const std::string& body)
      : answer_(fmt::format("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
                            body.size(), body)),
        listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listener_, any, size), 0);
    EXPECT_EQ(listen(listener_, 16), 0);
    EXPECT_EQ(getsockname(listener_, any, &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~OneAnswerServer() {
    is_over_ = true;
    thread_.join();
    close(listener_);
  }

  std::string url() const { return fmt::format("clickhouse://127.0.0.1:{}/x", port_); }

 private:
  static bool is_readable(int handle) {
    pollfd look{handle, POLLIN, 0};
    return poll(&look, 1, 20) > 0;
  }

  void serve() {
    while (!is_over_) {
      if (!is_readable(listener_)) continue;
      const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      char request[16'384];
      while (is_readable(client) && recv(client, request, sizeof(request), 0) > 0) {
      }
      EXPECT_EQ(send(client, answer_.data(), answer_.size(), MSG_NOSIGNAL),
                ssize_t(answer_.size()));
      close(client);
    }
  }

  std::string answer_;
  int listener_;
  int port_ = 0;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

std::string outcome(const OneAnswerServer& server, StoreMode mode) {
  const auto store = open_store(server.url(), mode);
  return store ? "opened" : store.error().message;
}

TEST(OtherAnswers, APageOfAnotherServerIsNoStore) {
  const OneAnswerServer server("<html>\n<p>It works!\n</html>\n");
  for (const StoreMode mode : {StoreMode::read, StoreMode::write, StoreMode::make}) {
    EXPECT_THAT(outcome(server, mode), HasSubstr("it answers, but not as ClickHouse does"));
  }
}

TEST(OtherAnswers, OneColumnForManyOnceEndedTheProgram) {
  const OneAnswerServer server("version\tcluster\nString\tString\n1\t\n");
  EXPECT_THAT(outcome(server, StoreMode::read), HasSubstr("(other columns)"));
  EXPECT_THAT(outcome(server, StoreMode::make), HasSubstr("(other columns)"));
}

// Whatever is asked.
class OneAnswerStore : public Store {
 public:
  OneAnswerStore(std::size_t columns, std::size_t rows, query::Cell cell = std::int64_t{7})
      : names_(columns), rows_(rows), cell_(cell) {}

  Result<Added> add(const Batch&) override { return Added{}; }
  Result<Removed> remove(std::span<const Id>) override { return Removed{}; }
  Status copy_to(const std::filesystem::path&) override { return {}; }
  Status run(std::string_view, query::RowSink& sink) override {
    sink.columns(names_);
    const std::vector<query::Cell> cells(names_.size(), cell_);
    for (std::size_t row = 0; row < rows_; ++row) {
      if (!sink.row(cells)) break;
    }
    return {};
  }
  std::vector<std::string> percentiles(std::string_view,
                                       const std::vector<double>& percents) const override {
    return std::vector<std::string>(percents.size());
  }
  const std::string& name() const override { return name_; }

 private:
  std::vector<std::string> names_;
  std::size_t rows_;
  query::Cell cell_;
  std::string name_ = "fleet.db";
};

TEST(OtherAnswers, AnswersOfOtherColumnsAreRefused) {
  OneAnswerStore store(2, 1);
  EXPECT_EQ(answer_of(store, 2, "SELECT a, b")->size(), 1u);
  for (const std::size_t columns : {1, 3}) {
    const auto answer = answer_of(store, columns, "SELECT");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::input);
    EXPECT_EQ(answer.error().message,
              fmt::format("fleet.db: asked for {} columns, it answers with 2; check what runs "
                          "there",
                          columns));
  }
}

TEST(OtherAnswers, OneRowIsNoneOrSeveral) {
  OneAnswerStore one(1, 1), none(1, 0), several(1, 3);
  EXPECT_EQ(integer_at(*row_of(one, 1, "SELECT"), 0), 7);
  EXPECT_THAT(row_of(none, 1, "SELECT").error().message, HasSubstr("it answers with 0"));
  EXPECT_THAT(row_of(several, 1, "SELECT").error().message, HasSubstr("it answers with 3"));
}

// A comparison of the ops of runs went on for ever.
TEST(OtherAnswers, RealsThatAreNotFiniteAreNone) {
  using Limits = std::numeric_limits<double>;
  for (const double real : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
    OneAnswerStore store(1, 1, real);
    EXPECT_EQ(number_at(*row_of(store, 1, "SELECT 9e999"), 0), std::nullopt);
  }
}

TEST(OtherAnswers, RealsThatAreNoIntegersAreNone) {
  const AnswerRow row{-3.0, 1e300, std::numeric_limits<double>::quiet_NaN(), std::string("7"), {}};
  const std::vector<std::int64_t> integers{-3, 0, 0, 0, 0};
  for (std::size_t i = 0; i < row.size(); ++i) EXPECT_EQ(integer_at(row, i), integers[i]) << i;
}

}  // namespace
}  // namespace npuscope::fleet::other_answers_test
