// Random numbers that are the same on every machine (mulberry32).
export class Random {
  constructor(private state: number) {}

  next(): number {  // 0 to 1, without 1
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  below(end: number): number {  // whole
    return Math.floor(this.next() * end);
  }
}
