#include "fleet/clickhouse/batch_insert.hpp"

#include <optional>
#include <random>
#include <unordered_map>

#include "base/parallel.hpp"
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
    std::optional<Failed> failure = fill_table(shard, schema_of("runs"), patience);
    for (const bool are_dimensions : {false, true}) {
      for (const Table& table : schema()) {
        const bool is_wanted =
            (table.sort == Rows::dimension) == are_dimensions && table.name != "runs";
        if (!failure && is_wanted) failure = fill_table(shard, table, patience);
      }
    }
    return failure;
  }

  std::optional<Failed> fill_table(std::size_t shard, const Table& table, Patience& patience) {
    std::vector<std::size_t> rows;
    std::vector<Id> takes;
    Id last = -1, take = 0;
    bool is_last_here = false;
    for (std::size_t row = 0, count = table.count(batch_); row < count; ++row) {
      if (table.sort != Rows::dimension) {
        const Id run = table.run_of(batch_, row);
        if (run != last) {
          last = run;
          is_last_here = shard_of(run) == shard && !known_.contains(run);
          if (is_last_here) take = takes_.at(run);
        }
        if (!is_last_here) continue;
        takes.push_back(take);
      }
      rows.push_back(row);
    }
    for (std::size_t at = 0; at < rows.size(); at += rows_of_block) {
      const std::size_t count = std::min(rows_of_block, rows.size() - at);
      const std::size_t with_take = takes.empty() ? 0 : count;
      const std::string body = body_of(table, std::span(rows).subspan(at, count),
                                       std::span(takes).subspan(takes.empty() ? 0 : at, with_take));
      if (auto failure = insert(*shards_[shard], table, body, patience)) return failure;
    }
    return std::nullopt;
  }

  // The columns of the schema, then those of inserted_columns() that are not of it; `takes` is
  // empty for a dimension.
  std::string body_of(const Table& table, std::span<const std::size_t> rows,
                      std::span<const Id> takes) const {
    const bool is_runs = table.name == "runs";
    NativeBlock block(table.columns.size() + !takes.empty() + is_runs, rows.size());
    std::vector<schema::Cell> cells(rows.size());
    for (const Column& column : table.columns) {
      std::ranges::transform(rows, cells.begin(),
                             [&](std::size_t row) { return column.get(batch_, row); });
      block.column(column, cells);
    }
    if (!takes.empty()) block.column("take", takes);
    if (is_runs) block.column("batch", std::vector<Id>(rows.size(), id_));
    return compressed_frames(block.bytes());
  }

  // A server that is busy has refused the block, so the same one may be sent again.
  static std::optional<Failed> insert(Server& server, const Table& table, std::string_view body,
                                      Patience& patience) {
    const std::string columns = inserted_columns(table);
    for (;;) {
      const ServerReply reply = server.insert(rows_of(table.name), columns, body);
      if (reply.done()) return std::nullopt;
      if (!reply.is_busy() || !patience.wait()) return Failed{reply, &server};
    }
  }

  // From here on an attempt may have succeeded although it seems not to have.
  std::optional<Failed> commit() {
    Server& server = *shards_[shard_of(batch_.runs.front().id)];
    NativeBlock block(1, 1);
    block.column("batch", std::span(&id_, 1));
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
