// One batch into the shards of a store, whatever holds meanwhile: see clickhouse_store.hpp.
#pragma once

#include <span>
#include <unordered_set>

#include "fleet/clickhouse/server.hpp"
#include "fleet/rows.hpp"

namespace npuscope::fleet {

// The runs in `known` are left out. An output error where the batch is not there.
Status insert_batch(std::span<Server* const> shards, const Batch& batch,
                    const std::unordered_set<Id>& known, std::chrono::seconds patience);

}  // namespace npuscope::fleet
