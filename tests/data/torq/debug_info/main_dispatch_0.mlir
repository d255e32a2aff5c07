#loc = loc(unknown)
#loc1 = loc("model.mlir":3:10)
module {
  memref.global "private" @__slot : memref<64xi8> = uninitialized loc(#loc)
  func.func @main_dispatch_0() {
    %0 = torq_hl.program "nss_program_0" {block_sizes = array<i32: 72>} : !torq_hl.program<nss> {
    ^bb0(%arg0: memref<64xi8> loc(unknown), %arg1: !torq_hl.invocation<slice> loc(unknown), %arg2: !torq_hl.invocation<slice> loc(unknown)):
      torq_hw.nss_task {"torq-task-id" = 0 : i64, "torq-start-time-cycles" = 0 : i64, "torq-end-time-cycles" = 40 : i64}() {
        torq_hw.dma_in_cfg from %arg0 : memref<64xi8> to %arg0 : memref<64xi8> {read_ndl = #torq_hw<dma_ndl{dims = [[64, 1]]}>} loc(#loc1)
        torq_hw.dma_in_start {"torq-async-duration-cycles" = 40 : i64} loc(#loc1)
        torq_hw.dma_in_wait loc(#loc1)
      } loc(#loc1)
      torq_hl.next %arg2, %arg1 : !torq_hl.invocation<slice>, !torq_hl.invocation<slice> lram_area(%arg0 : memref<64xi8>) to ^bb1 {lramAddress = 0 : i64} loc(#loc)
    ^bb1(%arg3: !torq_hl.invocation<slice> loc(unknown), %arg4: !torq_hl.invocation<slice> loc(unknown)):  // pred: ^bb0
      torq_hw.nss_task {"torq-task-id" = 1 : i64, "torq-start-time-cycles" = 40 : i64, "torq-end-time-cycles" = 41 : i64}() {
        "torq_hw.slice_start"(%arg4, %arg0) <{id = 0 : index, program_address = 1320 : i32}> {"torq-async-duration-cycles" = 100 : i64} : (!torq_hl.invocation<slice>, memref<64xi8>) -> () loc(#loc1)
      } loc(#loc1)
      torq_hw.nss_task {"torq-task-id" = 2 : i64, "torq-start-time-cycles" = 41 : i64, "torq-end-time-cycles" = 42 : i64}() {
        "torq_hw.slice_start"(%arg3, %arg0) <{id = 1 : index, program_address = 1400 : i32}> {"torq-async-duration-cycles" = 30 : i64} : (!torq_hl.invocation<slice>, memref<64xi8>) -> () loc(#loc5)
      } loc(#loc5)
      torq_hw.nss_task {"torq-task-id" = 3 : i64, "torq-start-time-cycles" = 42 : i64, "torq-end-time-cycles" = 140 : i64}() {
        "torq_hw.slice_wait"() <{id = 0 : index}> : () -> () loc(#loc1)
      } loc(#loc1)
      torq_hl.return loc(#loc)
    } loc(#loc1)
    %invocation, %code = torq_hl.descriptor "nss_program_0" on 0 program %0 : <nss> code [array<i8: 0>] {"torq-job-id" = 0 : i32} : !torq_hl.invocation<nss>, memref<72xi8> loc(#loc1)
    %1 = torq_hl.program "nss_program_1" : !torq_hl.program<nss> {
    ^bb0(%arg0: memref<64xi8> loc(unknown)):
      torq_hw.nss_task {"torq-task-id" = 4 : i64, "torq-start-time-cycles" = 140 : i64, "torq-end-time-cycles" = 150 : i64}() {
        "torq_hw.slice_wait"() <{id = 1 : index}> : () -> () loc(#loc5)
        torq_hw.dma_out_cfg from %arg0 : memref<64xi8> to %arg0 : memref<64xi8> {write_ndl = #torq_hw<dma_ndl{dims = [[64, 1]]}>} loc(#loc5)
        torq_hw.dma_out_start {"torq-async-duration-cycles" = 10 : i64} loc(#loc5)
        torq_hw.dma_out_wait loc(#loc5)
      } loc(#loc5)
      torq_hl.return loc(#loc)
    } loc(#loc5)
    %invocation_0, %code_1:2 = torq_hl.descriptor "nss_program_1" on 0 program %1 : <nss> code [array<i8: 0>, array<i8: 1>] {"torq-job-id" = 1 : i32} : !torq_hl.invocation<nss>, memref<8xi8>, memref<8xi8> loc(#loc5)
    %2 = torq_hl.program "slice_program_torq_hl.conv2d_0" : !torq_hl.program<slice> {
    ^bb0(%arg0: memref<64xi8> loc(unknown)):
      torq_hl.return loc(#loc1)
    } loc(#loc1)
    %invocation_2, %code_3 = torq_hl.descriptor "slice_program_torq_hl.conv2d_0" on 0 program %2 : <slice> code [array<i8: 4>] : !torq_hl.invocation<slice>, memref<264xi8> loc(#loc1)
    %invocation_4, %code_5 = torq_hl.descriptor "slice_program_torq_hl.add_1" on 0 program %2 : <slice> code [array<i8: 4>] : !torq_hl.invocation<slice>, memref<264xi8> loc(#loc5)
    %3 = torq_hl.program "host_program_0" : !torq_hl.program<host> {
    ^bb0(%arg0: memref<64xi8> loc(unknown)):
      torq_hl.return loc(#loc4)
    } loc(#loc4)
    %invocation_6 = torq_hl.descriptor "host_program_0" on 0 program %3 : <host> : !torq_hl.invocation<host> loc(#loc4)
    %4 = memref.get_global @__slot : memref<64xi8> loc(#loc)
    torq_hl.host_copy %4 : memref<64xi8> to %4 : memref<64xi8> {"torq-action-id" = 0 : i32} loc(#loc)
    torq_hl.start_program %invocation : !torq_hl.invocation<nss> args(%4, %invocation_2, %invocation_4 : memref<64xi8>, !torq_hl.invocation<slice>, !torq_hl.invocation<slice>) code(%code : memref<72xi8>) {"torq-action-id" = 1 : i32} loc(#loc1)
    torq_hl.wait_program %invocation : !torq_hl.invocation<nss> {"torq-action-id" = 2 : i32} loc(#loc1)
    torq_hl.start_program %invocation_0 : !torq_hl.invocation<nss> args(%4 : memref<64xi8>) code(%code_1#0, %code_1#1 : memref<8xi8>, memref<8xi8>) {"torq-action-id" = 3 : i32} loc(#loc5)
    torq_hl.wait_program %invocation_0 : !torq_hl.invocation<nss> {"torq-action-id" = 4 : i32} loc(#loc5)
    torq_hl.start_program %invocation_6 : !torq_hl.invocation<host> args(%4 : memref<64xi8>) code() {"torq-action-id" = 5 : i32} loc(#loc4)
    torq_hl.wait_program %invocation_6 : !torq_hl.invocation<host> {"torq-action-id" = 6 : i32} loc(#loc4)
    return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc2 = loc("model.mlir":2:3)
#loc3 = loc("model.mlir":4:10)
#loc4 = loc("relu"("model.mlir":5:12))
#loc5 = loc(fused<{origin = #torq<x -> "a>b">}>[callsite(#loc1 at #loc2), callsite(#loc3 at #loc2)])
