// The parts of placement, each built on those before it: where tensors lie, and what moves them.
#pragma once

#include "npu/nsp/compile/place/operands.hpp"
#include "npu/nsp/compile/place/tile_planner.hpp"

namespace npuscope::npu::nsp {

struct Placement {
  // `hoisted` bytes of every core's VTCM are for constants that stay there. Counts in `metrics`.
  Placement(const CompileContext& context, TaskWriter& writer, CompileMetrics& metrics,
            std::uint64_t hoisted)
      : hoisted_bytes(hoisted / VtcmAllocator::alignment * VtcmAllocator::alignment),
        storages(context),
        ddr(context, writer, storages),
        residency(context, writer, storages, ddr, metrics, context.vtcm_bytes - hoisted_bytes),
        constants(context, writer.tasks(), metrics, hoisted_bytes),
        transfers(context, writer, storages, ddr, residency),
        operands(context, writer, storages, ddr, residency, constants, transfers),
        tiles(writer, storages, ddr, residency, transfers) {}
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

  const std::uint64_t hoisted_bytes;
  Storages storages;
  DdrCopies ddr;
  Residency residency;
  Constants constants;
  Transfers transfers;
  Operands operands;
  TilePlanner tiles;
};

}  // namespace npuscope::npu::nsp
