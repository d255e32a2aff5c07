// Addresses within the page: "#timeline" is the timeline of the first profile, "#timeline-2" that of
// the second, "#profile-2" its tab.
export interface Address {
  id: string;     // of an element
  place: number;  // of the profile
}

export const idIn = (panel: string, place: number): string => (place === 0 ? panel : `${panel}-${place + 1}`);

export function addressOf(hash: string): Address {
  let id = hash.replace(/^#/, "");
  try {
    id = decodeURIComponent(id);
  } catch {
    id = "";
  }
  const number = /-(\d+)$/.exec(id);
  return { id, place: number === null ? 0 : Number(number[1]) - 1 };
}
