module {
  func.func @main_dispatch_0_conv2d() {
    %0 = torq_hl.program "nss_program_0" : !torq_hl.program<nss> {
    ^bb0(%arg0: memref<131072xi8> loc(unknown)):
      torq_hw.nss_task {"torq-task-id" = 0 : i64, "torq-start-time-cycles" = 0 : i64, "torq-end-time-cycles" = 27569 : i64}() {
        torq_hw.dma_in_cfg from %arg0 : memref<131072xi8> to %arg0 : memref<131072xi8> {read_ndl = #torq_hw<dma_ndl{dims = [[131072, 1]]}>} loc(#loc1)
        torq_hw.dma_in_start {"torq-async-duration-cycles" = 27569 : i64} loc(#loc1)
        torq_hw.dma_in_wait loc(#loc1)
      } loc(#loc1)
      torq_hl.return loc(#loc1)
    } loc(#loc1)
    %invocation, %code = torq_hl.descriptor "nss_program_0" on 0 program %0 : <nss> code [array<i8: 0>] {"torq-job-id" = 0 : i32} : !torq_hl.invocation<nss>, memref<72xi8> loc(#loc1)
    %1 = torq_hl.program "nss_program_1" : !torq_hl.program<nss> {
    ^bb0(%arg0: memref<131072xi8> loc(unknown), %arg1: !torq_hl.invocation<slice> loc(unknown)):
      torq_hw.nss_task {"torq-task-id" = 1 : i64, "torq-start-time-cycles" = 27569 : i64, "torq-end-time-cycles" = 27570 : i64}() {
        "torq_hw.slice_start"(%arg1, %arg0) <{id = 0 : index, program_address = 1320 : i32}> {"torq-async-duration-cycles" = 294912 : i64} : (!torq_hl.invocation<slice>, memref<131072xi8>) -> () loc(#loc1)
      } loc(#loc1)
      torq_hw.nss_task {"torq-task-id" = 2 : i64, "torq-start-time-cycles" = 27570 : i64, "torq-end-time-cycles" = 27571 : i64}() {
        "torq_hw.slice_start"(%arg1, %arg0) <{id = 1 : index, program_address = 1320 : i32}> {"torq-async-duration-cycles" = 294912 : i64} : (!torq_hl.invocation<slice>, memref<131072xi8>) -> () loc(#loc1)
      } loc(#loc1)
      torq_hw.nss_task {"torq-task-id" = 3 : i64, "torq-start-time-cycles" = 27571 : i64, "torq-end-time-cycles" = 28433 : i64}() {
        torq_hw.dma_in_cfg from %arg0 : memref<131072xi8> to %arg0 : memref<131072xi8> {read_ndl = #torq_hw<dma_ndl{dims = [[4096, 1]]}>} loc(#loc1)
        torq_hw.dma_in_start {"torq-async-duration-cycles" = 862 : i64} loc(#loc1)
        torq_hw.dma_in_wait loc(#loc1)
      } loc(#loc1)
      torq_hw.nss_task {"torq-task-id" = 4 : i64, "torq-start-time-cycles" = 28433 : i64, "torq-end-time-cycles" = 322482 : i64}() {
        "torq_hw.slice_wait"() <{id = 0 : index}> : () -> () loc(#loc1)
        "torq_hw.slice_wait"() <{id = 1 : index}> : () -> () loc(#loc1)
      } loc(#loc1)
      torq_hw.nss_task {"torq-task-id" = 5 : i64, "torq-start-time-cycles" = 322482 : i64, "torq-end-time-cycles" = 322913 : i64}() {
        torq_hw.dma_out_cfg from %arg0 : memref<131072xi8> to %arg0 : memref<131072xi8> {write_ndl = #torq_hw<dma_ndl{dims = [[2048, 1]]}>} loc(#loc1)
        torq_hw.dma_out_start {"torq-async-duration-cycles" = 431 : i64} loc(#loc1)
        torq_hw.dma_out_wait loc(#loc1)
      } loc(#loc1)
      torq_hl.return loc(#loc1)
    } loc(#loc1)
    %invocation_0, %code_1 = torq_hl.descriptor "nss_program_1" on 0 program %1 : <nss> code [array<i8: 0>] {"torq-job-id" = 1 : i32} : !torq_hl.invocation<nss>, memref<72xi8> loc(#loc1)
    %2 = torq_hl.program "slice_program_torq_hl.conv2d_0" : !torq_hl.program<slice> {
    ^bb0(%arg0: memref<131072xi8> loc(unknown)):
      torq_hl.return loc(#loc1)
    } loc(#loc1)
    %invocation_2, %code_3 = torq_hl.descriptor "slice_program_torq_hl.conv2d_0" on 0 program %2 : <slice> code [array<i8: 4>] : !torq_hl.invocation<slice>, memref<264xi8> loc(#loc1)
    %3 = memref.get_global @__slot : memref<131072xi8> loc(#loc)
    torq_hl.start_program %invocation : !torq_hl.invocation<nss> args(%3 : memref<131072xi8>) code(%code : memref<72xi8>) {"torq-action-id" = 0 : i32} loc(#loc1)
    torq_hl.wait_program %invocation : !torq_hl.invocation<nss> {"torq-action-id" = 1 : i32} loc(#loc1)
    torq_hl.start_program %invocation_0 : !torq_hl.invocation<nss> args(%3, %invocation_2 : memref<131072xi8>, !torq_hl.invocation<slice>) code(%code_1 : memref<72xi8>) {"torq-action-id" = 2 : i32} loc(#loc1)
    torq_hl.wait_program %invocation_0 : !torq_hl.invocation<nss> {"torq-action-id" = 3 : i32} loc(#loc1)
    torq_hl.host_copy %3 : memref<131072xi8> to %3 : memref<131072xi8> {element_size_bytes = 2 : i64, "torq-action-id" = 4 : i32} loc(#loc1)
    return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc1 = loc("model.mlir":3:10)
