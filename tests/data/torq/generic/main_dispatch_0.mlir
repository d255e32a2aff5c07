"builtin.module"() ({
  "func.func"() <{function_type = () -> (), sym_name = "main_dispatch_0"}> ({
    %0 = "torq_hl.program"() <{name = "nss_program_0"}> ({
    ^bb0(%arg0: memref<64xi8>, %arg1: !torq_hl.invocation<slice>, %arg2: !torq_hl.invocation<slice>):
      "torq_hw.nss_task"() ({
        "torq_hw.dma_in_cfg"(%arg0, %arg0) <{read_ndl = #torq_hw<dma_ndl{dims = [[64, 1]]}>}> : (memref<64xi8>, memref<64xi8>) -> () loc(#loc1)
        "torq_hw.dma_in_start"() {"torq-async-duration-cycles" = 40 : i64} : () -> () loc(#loc1)
        "torq_hw.dma_in_wait"() : () -> () loc(#loc1)
      }) {"torq-end-time-cycles" = 40 : i64, "torq-start-time-cycles" = 0 : i64, "torq-task-id" = 0 : i64} : () -> () loc(#loc1)
      "torq_hl.next"(%arg2, %arg1, %arg0)[^bb1] <{lramAddress = 0 : i64}> : (!torq_hl.invocation<slice>, !torq_hl.invocation<slice>, memref<64xi8>) -> () loc(#loc)
    ^bb1(%arg3: !torq_hl.invocation<slice>, %arg4: !torq_hl.invocation<slice>):  // pred: ^bb0
      "torq_hw.nss_task"() ({
        "torq_hw.slice_start"(%arg4, %arg0) <{id = 0 : index, program_address = 1320 : i32}> {"torq-async-duration-cycles" = 100 : i64} : (!torq_hl.invocation<slice>, memref<64xi8>) -> () loc(#loc1)
      }) {"torq-end-time-cycles" = 41 : i64, "torq-start-time-cycles" = 40 : i64, "torq-task-id" = 1 : i64} : () -> () loc(#loc1)
      "torq_hw.nss_task"() ({
        "torq_hw.slice_start"(%arg3, %arg0) <{id = 1 : index, program_address = 1400 : i32}> {"torq-async-duration-cycles" = 30 : i64} : (!torq_hl.invocation<slice>, memref<64xi8>) -> () loc(#loc5)
      }) {"torq-end-time-cycles" = 42 : i64, "torq-start-time-cycles" = 41 : i64, "torq-task-id" = 2 : i64} : () -> () loc(#loc5)
      "torq_hw.nss_task"() ({
        "torq_hw.slice_wait"() <{id = 0 : index}> : () -> () loc(#loc1)
      }) {"torq-end-time-cycles" = 140 : i64, "torq-start-time-cycles" = 42 : i64, "torq-task-id" = 3 : i64} : () -> () loc(#loc1)
      "torq_hl.return"() : () -> () loc(#loc)
    }) : () -> !torq_hl.program<nss> loc(#loc1)
    %1:2 = "torq_hl.descriptor"(%0) <{name = "nss_program_0"}> {"torq-job-id" = 0 : i32} : (!torq_hl.program<nss>) -> (!torq_hl.invocation<nss>, memref<72xi8>) loc(#loc1)
    %2 = "torq_hl.program"() <{name = "nss_program_1"}> ({
    ^bb0(%arg0: memref<64xi8>):
      "torq_hw.nss_task"() ({
        "torq_hw.slice_wait"() <{id = 1 : index}> : () -> () loc(#loc5)
        "torq_hw.dma_out_cfg"(%arg0, %arg0) <{write_ndl = #torq_hw<dma_ndl{dims = [[64, 1]]}>}> : (memref<64xi8>, memref<64xi8>) -> () loc(#loc5)
        "torq_hw.dma_out_start"() {"torq-async-duration-cycles" = 10 : i64} : () -> () loc(#loc5)
        "torq_hw.dma_out_wait"() : () -> () loc(#loc5)
      }) {"torq-end-time-cycles" = 150 : i64, "torq-start-time-cycles" = 140 : i64, "torq-task-id" = 4 : i64} : () -> () loc(#loc5)
      "torq_hl.return"() : () -> () loc(#loc)
    }) : () -> !torq_hl.program<nss> loc(#loc5)
    %3:3 = "torq_hl.descriptor"(%2) <{name = "nss_program_1"}> {"torq-job-id" = 1 : i32} : (!torq_hl.program<nss>) -> (!torq_hl.invocation<nss>, memref<8xi8>, memref<8xi8>) loc(#loc5)
    %4:2 = "torq_hl.descriptor"(%0) <{name = "slice_program_torq_hl.conv2d_0"}> : (!torq_hl.program<nss>) -> (!torq_hl.invocation<slice>, memref<264xi8>) loc(#loc1)
    %5:2 = "torq_hl.descriptor"(%0) <{name = "slice_program_torq_hl.add_1"}> : (!torq_hl.program<nss>) -> (!torq_hl.invocation<slice>, memref<264xi8>) loc(#loc5)
    %6 = "memref.get_global"() <{name = @__slot}> : () -> memref<64xi8> loc(#loc)
    "torq_hl.host_copy"(%6, %6) {"torq-action-id" = 0 : i32} : (memref<64xi8>, memref<64xi8>) -> () loc(#loc)
    "torq_hl.start_program"(%1#0, %1#1, %6, %4#0, %5#0) <{operandSegmentSizes = array<i32: 1, 1, 3>}> {"torq-action-id" = 1 : i32} : (!torq_hl.invocation<nss>, memref<72xi8>, memref<64xi8>, !torq_hl.invocation<slice>, !torq_hl.invocation<slice>) -> () loc(#loc1)
    "torq_hl.wait_program"(%1#0) {"torq-action-id" = 2 : i32} : (!torq_hl.invocation<nss>) -> () loc(#loc1)
    "torq_hl.start_program"(%3#0, %3#1, %3#2, %6) <{operandSegmentSizes = array<i32: 1, 2, 1>}> {"torq-action-id" = 3 : i32} : (!torq_hl.invocation<nss>, memref<8xi8>, memref<8xi8>, memref<64xi8>) -> () loc(#loc5)
    "torq_hl.wait_program"(%3#0) {"torq-action-id" = 4 : i32} : (!torq_hl.invocation<nss>) -> () loc(#loc5)
    "func.return"() : () -> () loc(#loc)
  }) : () -> () loc(#loc)
}) : () -> () loc(#loc)
#loc = loc(unknown)
#loc1 = loc("model.mlir":3:10)
#loc2 = loc("model.mlir":2:3)
#loc3 = loc("model.mlir":4:10)
#loc5 = loc(fused[callsite(#loc1 at #loc2), callsite(#loc3 at #loc2)])
