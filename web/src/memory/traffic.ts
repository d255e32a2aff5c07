// Bytes over time, on the timeline's axis: the buckets of ProfileDataHead.bandwidth that lie in what
// the timeline shows.
import type { ProfileDataHead } from "../data/report";
import type { Range } from "../state/store";

export interface Traffic {
  name: string;
  points: { time: number; rate: number }[];  // steps: from `time` to the next; bytes a tick
  bytes: number;                             // in the range; of a bucket that it cuts its share
}

// At most so many steps: buckets are joined, and the largest of those joined is drawn.
export function trafficIn(head: ProfileDataHead, range: Range, most: number): Traffic[] {
  const { bandwidth } = head;
  if (bandwidth === null || !(bandwidth.width > 0)) return [];
  const { width, routes, begin } = bandwidth;
  return routes.map(({ name, bytes }) => {
    const first = Math.max(0, Math.floor((range.begin - begin) / width));
    const last = Math.min(bytes.length, Math.ceil((range.end - begin) / width));
    const join = Math.max(1, Math.ceil((last - first) / most));
    const points: Traffic["points"] = [];
    let sum = 0;
    for (let from = first; from < last; from += join) {
      let largest = 0;
      for (let i = from; i < Math.min(last, from + join); ++i) {
        largest = Math.max(largest, bytes[i]);
        const inside = Math.min(range.end - begin, (i + 1) * width) - Math.max(range.begin - begin, i * width);
        sum += bytes[i] * Math.max(0, inside / width);
      }
      points.push({ time: begin + from * width, rate: largest / width });
    }
    return { name, points, bytes: sum };
  });
}
