// Where tensors are and how they get there: the parts of placement, each built on those before it.
#pragma once

#include "npu/compile/place/operands.hpp"
#include "npu/compile/place/tile_room.hpp"

namespace npuscope::npu {

struct Placement {
  // `hoisted` bytes of every core's VTCM are for constants that stay there. Counts in `metrics`.
  Placement(const CompileContext& context, TaskWriter& writer, CompileMetrics& metrics,
            std::uint64_t hoisted)
      : room_for_constants(hoisted / VtcmAllocator::alignment * VtcmAllocator::alignment),
        storages(context),
        ddr(context, writer, storages),
        residency(context, writer, storages, ddr, metrics, context.vtcm_bytes - room_for_constants),
        constants(context, writer.tasks(), metrics, room_for_constants),
        transfers(context, writer, storages, ddr, residency),
        operands(context, writer, storages, ddr, residency, constants, transfers),
        tile_room(writer, storages, ddr, residency, transfers) {}
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

  const std::uint64_t room_for_constants;
  Storages storages;
  DdrCopies ddr;
  Residency residency;
  Constants constants;
  Transfers transfers;
  Operands operands;
  TileRoom tile_room;
};

}  // namespace npuscope::npu
