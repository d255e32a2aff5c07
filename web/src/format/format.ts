// Values, ticks and names as text: what panels import.
export { barText, bytesText, changeText, digits, exactText, hertzText, numberText, secondsText, shareText } from "./number";
export { printable, shortened, shownName } from "./name";
export { clockOf, showsTime, ticksText, ticksWithUnit, type Clocks } from "./ticks";
export { standsLeft, valueText } from "./value";
