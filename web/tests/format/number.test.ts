// cpp_numbers.json: what the functions of src/report/document print, written by a program made of them:
// value, number, seconds, bytes, hertz, share, change, exact, bar.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { barText, bytesText, changeText, exactText, hertzText, numberText, secondsText, shareText } from "../../src/format/format";

const rows = JSON.parse(readFileSync("tests/format/cpp_numbers.json", "utf8")) as string[][];
const printers = { number: numberText, seconds: secondsText, bytes: bytesText, hertz: hertzText, share: shareText,
                   change: changeText, exact: exactText, bar: barText };

Object.entries(printers).forEach(([name, print], i) => {
  test(`${name}: as npuscope's text`, () => {
    for (const row of rows) assert.equal(print(Number(row[0])), row[i + 1], row[0]);
  });
});
