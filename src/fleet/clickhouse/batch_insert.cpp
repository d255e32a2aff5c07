#include "fleet/clickhouse/batch_insert.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <unordered_map>

#include "base/parallel.hpp"
#include "fleet/clickhouse/native_block.hpp"
#include "fleet/clickhouse/patience.hpp"
#include "fleet/clickhouse/tables.hpp"

namespace npuscope::fleet {
namespace {

// Rows of one INSERT: some tens of megabytes, of which one part is made.
constexpr std::size_t rows_of_block = 500'000;

Id random_id() {
  std::random_device source;
  return Id((std::uint64_t(source()) << 31 ^ source()) & 0x7fffffffffffffff);
}

struct Failed {
  ServerReply reply;
  Server* server = nullptr;
};

// One attempt: takes of its own.
class Attempt {
 public:
  Attempt(std::span<Server* const> shards, const Batch& batch, const std::unordered_set<Id>& known,
          Patience& patience)
      : shards_(shards), batch_(batch), known_(known), patience_(patience) {
    for (const Run& run : batch.runs) takes_.emplace(run.id, random_id());
  }

  std::optional<Failed> run() {
    std::vector<std::optional<Failed>> failures(shards_.size());
    parallel_for(shards_.size(), [&](std::size_t i) { failures[i] = fill(i); });
    for (std::optional<Failed>& failure : failures) {
      if (failure) return failure;
    }
    return commit();
  }

 private:
  std::size_t shard_of(Id run) const { return std::size_t(run) % shards_.size(); }

  // Shards are filled side by side, each with pauses of its own.
  std::optional<Failed> fill(std::size_t shard) {
    Patience patience = patience_;
    std::optional<Failed> failure = fill_table(shard, runs(), patience);
    const auto fill_those = [&](Rows sort) {
      each_table([&](const auto& table) {
        const bool is_wanted = (table.sort == Rows::dimension) == (sort == Rows::dimension) &&
                               std::string_view(table.name) != "runs";
        if (!failure && is_wanted) failure = fill_table(shard, table, patience);
      });
    };
    fill_those(Rows::unique);
    fill_those(Rows::dimension);
    return failure;
  }

  template <class Row, class... T>
  std::optional<Failed> fill_table(std::size_t shard, const Table<Row, T...>& table,
                                   Patience& patience) {
    std::vector<const Row*> rows;
    std::vector<Id> takes;
    Id last = -1, take = 0;
    bool is_last_here = false;
    for (const Row& row : batch_.*table.rows) {
      if (table.sort != Rows::dimension) {
        const Id run = run_of(row);
        if (run != last) {
          last = run;
          is_last_here = shard_of(run) == shard && !known_.contains(run);
          if (is_last_here) take = takes_.at(run);
        }
        if (!is_last_here) continue;
        takes.push_back(take);
      }
      rows.push_back(&row);
    }
    const std::vector<Id> batches(std::is_same_v<Row, Run> ? rows.size() : 0, id_);
    const std::span<const Row* const> all(rows);
    for (std::size_t at = 0; at < rows.size(); at += rows_of_block) {
      const std::size_t count = std::min(rows_of_block, rows.size() - at);
      std::vector<HiddenColumn> hidden;
      if (!takes.empty()) hidden.push_back({"take", std::span(takes).subspan(at, count)});
      if (!batches.empty()) hidden.push_back({"batch", std::span(batches).subspan(at, count)});
      const std::string body = insert_body(table, all.subspan(at, count), hidden);
      if (auto failure = insert(*shards_[shard], table.name, body, patience)) return failure;
    }
    return std::nullopt;
  }

  // A server that is busy has refused the block, so the same one may be sent again.
  static std::optional<Failed> insert(Server& server, const char* table, std::string_view body,
                                      Patience& patience) {
    const std::string columns = inserted_columns(schema_of(table));
    for (;;) {
      const ServerReply reply = server.insert(rows_of(table), columns, body);
      if (reply.done()) return std::nullopt;
      if (!reply.is_busy() || !patience.wait()) return Failed{reply, &server};
    }
  }

  // From here on an attempt may have succeeded although it seems not to have.
  std::optional<Failed> commit() {
    Server& server = *shards_[shard_of(batch_.runs.front().id)];
    NativeBlock block(1, 1);
    block.column("batch", "Int64");
    block.values([&](std::size_t) { return id_; });
    const std::string body = compressed_frames(block.bytes());
    for (;;) {
      const ServerReply reply = server.insert("batches_rows", "`batch`", body);
      if (reply.done()) return std::nullopt;
      if (!reply.may_pass() && reply.kind != ServerReply::Kind::late) return Failed{reply, &server};
      if (!patience_.wait()) {
        return Failed{{ServerReply::Kind::late, 0,
                       "while the batch was committed; the same command adds what is missing"},
                      &server};
      }
    }
  }

  std::span<Server* const> shards_;
  const Batch& batch_;
  const std::unordered_set<Id>& known_;
  Patience& patience_;
  const Id id_ = random_id();
  std::unordered_map<Id, Id> takes_;  // by run
};

}  // namespace

Status insert_batch(std::span<Server* const> shards, const Batch& batch,
                    const std::unordered_set<Id>& known, std::chrono::seconds patience) {
  if (known.size() == batch.runs.size()) return {};
  Patience left(patience);
  for (;;) {
    const auto failure = Attempt(shards, batch, known, left).run();
    if (!failure) return {};
    if (!failure->reply.may_pass() || !left.wait()) {
      return tl::unexpected(failure->server->error_of(failure->reply, ErrorKind::output));
    }
  }
}

}  // namespace npuscope::fleet
