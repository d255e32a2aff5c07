// The timeline's model of a fixture, for tests.
import type { Data } from "../../src/data/data";
import { openBytes } from "../../src/data/decode";
import type { Context } from "../../src/panel";
import { Store } from "../../src/state/store";
import { Model } from "../../src/timeline/model";
import { encodeData, type ColumnInput, type ProfileInput } from "./encode";
import { makeProfile, type FixtureOptions } from "./fixture";

export function contextOf(options: FixtureOptions, change: (data: ProfileInput) => void = () => {}): Context {
  const { report, data } = makeProfile(options);
  change(data);
  return { report, data: openBytes(encodeData([data]) as Uint8Array<ArrayBuffer>)[0], store: new Store() };
}

export const modelOf = (options: FixtureOptions): Model => new Model(contextOf(options));

// Columns and nothing else, of one unit that has all spans.
export function dataOf(columns: ColumnInput[], kinds = ["op", "sync"], strings = [""]): Data {
  const { data } = makeProfile({ spans: 0, ops: 0 });
  const spans = columns[0].values.length;
  const units = [{ name: "u", path: "u", engine: "hvx", is_device: true, device: 0, core: 0, parent: -1, first_span: 0, spans }];
  return openBytes(encodeData([{ ...data, kinds, strings, units, columns }]) as Uint8Array<ArrayBuffer>)[0];
}
