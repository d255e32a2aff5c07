// How wide a drawing is that has text in it: it would be unreadable on a telephone if it were made for a wide screen
// and shrunk.
export const drawnWidth = (most: number): number => Math.max(320, Math.min(most, window.innerWidth - 40));
