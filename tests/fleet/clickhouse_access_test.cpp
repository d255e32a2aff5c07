// Who may ask, and whom npuscope believes: users, passwords, certificates.
#include <cstdlib>
#include <fstream>

#include "fleet/clickhouse_fixture.hpp"

namespace npuscope::fleet::clickhouse_access_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* users =
    R"(<yandex><profiles><default/></profiles><quotas><default/></quotas><users>
  <default><password>unknown</password><networks><ip>127.0.0.0/8</ip></networks>
    <profile>default</profile><quota>default</quota></default>
  <keeper><password>s/e:c@r%et</password><networks><ip>127.0.0.0/8</ip></networks>
    <profile>default</profile><quota>default</quota></keeper>
</users></yandex>)";

// A server of its own, with a user who has a password.
class ClickHouseAccess : public testing::Test {
 protected:
  void SetUp() override {
    if (!ClickHouseServer::is_installed()) GTEST_SKIP() << ClickHouseCluster::why_not();
    std::ofstream(folder / "users.xml") << users;
    auto environment = environment_of(folder.path(), "127.0.0.2", ports);
    environment["NPUSCOPE_USERS"] = folder / "users.xml";
    server = std::make_unique<ClickHouseServer>(folder.path(), environment,
                                                ServerOptions{.settings = settings()});
    ASSERT_TRUE(server->waits_for_requests());
  }
  void TearDown() override {
    for (const char* name : {"NPUSCOPE_CLICKHOUSE_USER", "NPUSCOPE_CLICKHOUSE_PASSWORD",
                             "NPUSCOPE_CLICKHOUSE_NETRC"}) {
      unsetenv(name);
    }
  }
  virtual std::vector<std::string> settings() { return {}; }

  std::string url(const std::string& who = "") const {
    return fmt::format("clickhouse://{}127.0.0.2:{}/x", who, ports.http);
  }
  static std::string outcome(const std::string& path) {
    const auto store = open_store(path, StoreMode::make);
    return store ? "opened" : store.error().message;
  }

  TemporaryFolder folder;
  const ClickHousePorts ports = ClickHousePorts::free();
  std::unique_ptr<ClickHouseServer> server;
};

TEST_F(ClickHouseAccess, APasswordInTheUrlOpensAndIsNotInTheName) {
  const auto store = open_store(url("keeper:s%2Fe%3Ac%40r%25et@"), StoreMode::make);
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_THAT((*store)->name(), AllOf(Not(HasSubstr("keeper")), Not(HasSubstr("r%25et"))));
}

TEST_F(ClickHouseAccess, APasswordOfTheEnvironmentOpens) {
  setenv("NPUSCOPE_CLICKHOUSE_PASSWORD", "s/e:c@r%et", 1);
  EXPECT_EQ(outcome(url("keeper@")), "opened");
  setenv("NPUSCOPE_CLICKHOUSE_USER", "keeper", 1);
  EXPECT_EQ(outcome(url()), "opened");
}

TEST_F(ClickHouseAccess, APasswordInAFileOfItsOwnOpens) {
  std::ofstream(folder / "netrc") << "machine 127.0.0.2 login keeper password s/e:c@r%et\n";
  setenv("NPUSCOPE_CLICKHOUSE_NETRC", (folder / "netrc").c_str(), 1);
  EXPECT_EQ(outcome(url()), "opened");
}

TEST_F(ClickHouseAccess, AnotherPasswordIsRefusedInASentenceWithoutIt) {
  for (const char* who : {"keeper:wr0ng@", "nobody:wr0ng@", "keeper@", ""}) {
    EXPECT_THAT(outcome(url(who)),
                AllOf(HasSubstr("refuses this user or password; set NPUSCOPE_CLICKHOUSE_USER"),
                      Not(HasSubstr("wr0ng"))))
        << who;
  }
}

class ClickHouseByHttps : public ClickHouseAccess {
 protected:
  void SetUp() override {
    const std::string made = fmt::format(
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.2 -addext "
        "subjectAltName=IP:127.0.0.2 -keyout {0}/key.pem -out {0}/certificate.pem 2> /dev/null",
        folder.path().string());
    if (std::system(made.c_str()) != 0) GTEST_SKIP() << "the program openssl is not installed";
    ClickHouseAccess::SetUp();
  }
  std::vector<std::string> settings() override {
    return {fmt::format("https_port={}", secure_port),
            "openSSL.server.certificateFile=" + (folder / "certificate.pem").string(),
            "openSSL.server.privateKeyFile=" + (folder / "key.pem").string(),
            "openSSL.server.verificationMode=none"};
  }
  std::string secure_url(const std::string& more) const {
    return fmt::format("clickhouse://keeper:s%2Fe%3Ac%40r%25et@127.0.0.2:{}/x?secure=1{}",
                       secure_port, more);
  }

  const int secure_port = ClickHousePorts::free().http;
};

TEST_F(ClickHouseByHttps, ACertificateOfAnAuthorityThatIsNamedIsBelieved) {
  EXPECT_EQ(outcome(secure_url("&ca=" + (folder / "certificate.pem").string())), "opened");
}

TEST_F(ClickHouseByHttps, AnotherCertificateIsNot) {
  EXPECT_THAT(outcome(secure_url("")), HasSubstr("cannot be reached"));
  EXPECT_THAT(outcome(secure_url("")), HasSubstr("certificate"));
  EXPECT_THAT(outcome(secure_url("&ca=" + (folder / "missing.pem").string())),
              HasSubstr("missing.pem"));
}

}  // namespace
}  // namespace npuscope::fleet::clickhouse_access_test
