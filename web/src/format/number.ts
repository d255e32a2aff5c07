// Numbers as npuscope's text prints them (src/report/document/document_value.cpp): four significant digits,
// ties to the even digit, no exponent where people expect none.
//
//   numberText(64829)       "64,829"
//   secondsText(86.1e-6)    "86.10 us"
//   bytesText(671744)       "656.0 KiB"

// toFixed() takes ties away from zero, C++ takes them to the even digit.
export function fixed(value: number, decimals: number): string {
  const scale = 10 ** decimals;
  const below = Math.floor(value * scale);
  // A tie has one binary digit more behind the point than there are decimals, at most.
  const tie = Number.isInteger(value * 2 ** (decimals + 1)) && value * scale - below === 0.5;
  if (Object.is(value, -0)) return `-${(0).toFixed(decimals)}`;
  if (Math.abs(value) >= 1e21) return `${BigInt(value)}${(0).toFixed(decimals).slice(1)}`;
  if (!tie) return value.toFixed(decimals);
  return ((below % 2 === 0 ? below : below + 1) / scale).toFixed(decimals);
}

// "1.5e+15"
function scientific(digits: string): string {
  const [mantissa, exponent] = digits.split("e");
  const kept = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  const size = exponent.slice(1).padStart(2, "0");
  return `${kept}e${exponent[0]}${size}`;
}

export function digits(value: number): string {
  const size = Math.abs(value);
  if (!(size < 1e15)) return Number.isFinite(value) ? scientific(value.toExponential(3)) : "";
  if (size >= 999.95) return fixed(value, 0);
  if (size >= 99.995) return fixed(value, 1);
  if (size >= 9.9995) return fixed(value, 2);
  return fixed(value, 3);
}

const thousands = (whole: number): string => BigInt(whole).toString().replace(/\B(?=(\d{3})+$)/g, ",");

// Whole numbers with thousands, others to four digits.
export function numberText(value: number): string {
  const size = Math.abs(value);
  if (!Number.isInteger(value) || size >= 9e18) {
    if (!(size >= 999.95 && size < 9e18)) return digits(value);
  }
  const rounded = Math.floor(size + 0.5);
  return (value < 0 ? "-" : "") + thousands(Number.isInteger(value) ? size : rounded);
}

// As many digits as tell the number from its neighbours.
export function exactText(value: number): string {
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const exponent = Number(value.toExponential().split("e")[1]);
  if (exponent < -4 || exponent >= 16) return scientific(value.toExponential());
  return String(value).includes("e") ? value.toFixed(20).replace(/0+$/, "") : String(value);
}

export function secondsText(seconds: number): string {
  const size = Math.abs(seconds);
  if (seconds === 0) return "0";
  if (size < 999.95e-9) return `${digits(seconds * 1e9)} ns`;
  if (size < 999.95e-6) return `${digits(seconds * 1e6)} us`;
  if (size < 999.95e-3) return `${digits(seconds * 1e3)} ms`;
  return `${digits(seconds)} s`;
}

export function bytesText(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  while (Math.abs(bytes) >= 999.5 && unit + 1 < units.length) {
    bytes /= 1024;
    ++unit;
  }
  return unit === 0 ? `${fixed(bytes, 0)} B` : `${digits(bytes)} ${units[unit]}`;
}

export function hertzText(hertz: number): string {
  return hertz >= 999.5e6 ? `${digits(hertz / 1e9)} GHz` : `${digits(hertz / 1e6)} MHz`;
}

export const shareText = (share: number): string => `${fixed(100 * share, 1)} %`;

export function changeText(change: number): string {
  if (change === 0) return "0 %";
  const text = fixed(100 * change, 1);
  return `${text.startsWith("-") ? "" : "+"}${text} %`;
}

// Eighths of 20 cells, at least one of what is there.
export function barText(share: number): string {
  const eighths = share > 0 ? Math.min(160, Math.max(1, Math.round(share * 160))) : 0;
  return "█".repeat(eighths >> 3) + ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths & 7];
}
