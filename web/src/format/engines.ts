// Classes of hardware as pages call them (name_of() of src/profile/profile.cpp), in the order of pages.
export const engineNames: ReadonlyMap<string, string> = new Map([
  ["none", "unit"], ["device", "device"], ["core", "core"], ["hvx", "HVX"], ["hmx", "HMX"], ["dma_issue", "DMA issue"], ["dma", "DMA"],
  ["host", "host"], ["process", "process"], ["thread", "thread"], ["compute", "compute"], ["communication", "communication"], ["other", "other"],
]);

export const engineName = (engine: string): string => engineNames.get(engine) ?? engine;
