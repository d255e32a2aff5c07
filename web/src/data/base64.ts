// Base64 to bytes. The blob of a large report has 40 million characters: atob() would make a second
// string of them, so this reads the text as it is.

const codes = new Uint8Array(128).fill(255);
"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".split("").forEach((letter, i) => {
  codes[letter.charCodeAt(0)] = i;
});

// Null where the text is not base64.
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  let end = text.length;
  while (end > 0 && (text.charCodeAt(end - 1) === 61 || text.charCodeAt(end - 1) <= 32)) --end;
  let begin = 0;
  while (begin < end && text.charCodeAt(begin) <= 32) ++begin;
  const length = end - begin;
  if (length % 4 === 1) return null;
  const bytes = new Uint8Array(Math.floor((length * 3) / 4));
  let bad = 0;
  let at = 0;
  let i = begin;
  for (; i + 4 <= end; i += 4) {
    const a = text.charCodeAt(i), b = text.charCodeAt(i + 1), c = text.charCodeAt(i + 2), d = text.charCodeAt(i + 3);
    if ((a | b | c | d) > 127) return null;
    const u = codes[a], v = codes[b], w = codes[c], x = codes[d];
    bad |= u | v | w | x;
    bytes[at++] = (u << 2) | (v >> 4);
    bytes[at++] = (v << 4) | (w >> 2);
    bytes[at++] = (w << 6) | x;
  }
  if (i < end) {
    const rest = [0, 0, 0];
    for (let k = 0; i + k < end; ++k) rest[k] = codes[text.charCodeAt(i + k)] ?? 255;
    bad |= rest[0] | rest[1] | rest[2];
    bytes[at++] = (rest[0] << 2) | (rest[1] >> 4);
    if (end - i === 3) bytes[at++] = (rest[1] << 4) | (rest[2] >> 2);
  }
  return bad > 63 ? null : bytes;
}
