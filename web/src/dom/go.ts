// To another panel of the same tab. Panels of the second profile have ids with a number.
export function goTo(panel: string, from: Element): void {
  const tab = from.closest("[role=tabpanel]") ?? document;
  tab.querySelector(`[id="${panel}"], [id^="${panel}-"]`)?.scrollIntoView({ block: "start" });
}
