// How spans count, by their kind, as role_of() of include/npuscope/analysis/timeline.hpp has it.
export type Role = "work" | "wait" | "frame" | "overlay";

const roles: { [kind: string]: Role } = {
  op: "work", transfer: "work", host: "work", slice: "work", kernel: "work", copy: "work",
  communication: "work", runtime_call: "work",
  sync: "wait", barrier: "wait", dma_wait: "wait", wait: "wait",
  inference: "frame", activation: "frame", annotation: "frame",
  async: "overlay", instant: "overlay",
};

export const roleOf = (kind: string): Role => roles[kind.replaceAll(" ", "_")] ?? "overlay";
