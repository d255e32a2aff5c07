// A column of LEB128 varints, each the zigzag of a value or of its difference from the one before:
// 300, delta from 298, is zigzag(2) = 4, the byte 04.
//
// 5 million spans have 30 million of them, so the loop has a way for one, two and three bytes, and
// makes numbers of 32 bits as long as they fit.

// How many varints the bytes hold; -1: the last one has no end.
export function countOfVarints(bytes: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < bytes.length; ++i) count += (bytes[i] >> 7) ^ 1;
  return bytes.length > 0 && bytes[bytes.length - 1] >= 128 ? -1 : count;
}

// `bytes` has to hold `count` of them (countOfVarints). `after`: with `delta`, what comes on top of the value before.
export function decodeVarints(bytes: Uint8Array, count: number, delta: boolean, after: ArrayLike<number> | null = null): Int32Array | Float64Array {
  let out: Int32Array | Float64Array = new Int32Array(count);
  let at = 0;
  let sum = 0;
  let row = 0;
  const narrow = out as Int32Array;
  for (; row < count; ++row) {  // while all fit 32 bits
    const begin = at;
    let value = bytes[at++];
    if (value >= 128) {
      value = (value & 127) | (bytes[at] & 127) << 7;
      if (bytes[at++] >= 128) {
        value |= (bytes[at] & 127) << 14;
        if (bytes[at++] >= 128) {
          value |= (bytes[at] & 127) << 21;
          if (bytes[at++] >= 128) {
            at = begin;
            break;
          }
        }
      }
    }
    value = (value >>> 1) ^ -(value & 1);
    if (delta) {
      const next = sum + value + (after !== null && row > 0 ? after[row - 1] : 0);
      if (next > 2147483647 || next < -2147483648) {
        at = begin;
        break;
      }
      narrow[row] = sum = next;
    } else {
      narrow[row] = value;
    }
  }
  if (row < count) {
    const wide = new Float64Array(count);
    wide.set(narrow.subarray(0, row));
    out = wide;
    for (; row < count; ++row) {
      let byte = bytes[at++];
      let low = byte & 127;  // of 28 bits
      let shift = 7;
      while (byte >= 128 && shift < 28) {
        byte = bytes[at++];
        low |= (byte & 127) << shift;
        shift += 7;
      }
      let value = 0;
      const odd = low & 1;
      if (byte >= 128) {
        let high = 0;
        let scale = 1;
        do {
          byte = bytes[at++];
          high += (byte & 127) * scale;
          scale *= 128;
        } while (byte >= 128);
        value = high * 134217728 + (low >>> 1);  // 2^27: one bit is the sign
      } else {
        value = low >>> 1;
      }
      if (odd) value = -value - 1;
      if (delta) value = sum += value + (after !== null && row > 0 ? after[row - 1] : 0);
      wide[row] = value;
    }
  }
  return out;
}

// Zigzags by planes: all lowest bytes, then all second ones, …. `bytes` has to hold whole planes of `count`, eight at most.
export function decodePlanes(bytes: Uint8Array, count: number): Int8Array | Int16Array | Int32Array | Float64Array {
  const width = count === 0 ? 0 : bytes.length / count;
  if (width <= 4) {
    const out = width <= 1 ? new Int8Array(count) : width === 2 ? new Int16Array(count) : new Int32Array(count);
    const [second, third, fourth] = [count, 2 * count, 3 * count];
    for (let i = 0; i < count; ++i) {
      let bits = width > 0 ? bytes[i] : 0;
      if (width > 1) bits |= bytes[second + i] << 8;
      if (width > 2) bits |= bytes[third + i] << 16;
      if (width > 3) bits |= bytes[fourth + i] << 24;
      out[i] = (bits >>> 1) ^ -(bits & 1);
    }
    return out;
  }
  const out = new Float64Array(count);
  for (let i = 0; i < count; ++i) {
    let half = bytes[i] >> 1;
    for (let plane = 1, scale = 128; plane < width; ++plane, scale *= 256) half += bytes[plane * count + i] * scale;
    out[i] = (bytes[i] & 1) === 1 ? -half - 1 : half;
  }
  return out;
}
