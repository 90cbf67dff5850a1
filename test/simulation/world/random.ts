/** A source of random numbers that a seed decides, the same on every machine (xorshift128, seeded by splitmix32). */
export class SeededRandom {
  readonly #state: Uint32Array;

  constructor(seed: number) {
    let x = seed >>> 0;
    this.#state = Uint32Array.from({ length: 4 }, () => {
      x = (x + 0x9e3779b9) >>> 0;
      let z = x;
      z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
      z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
      return (z ^ (z >>> 15)) >>> 0;
    });
  }

  /** A source of its own for a part, so that one part asking more often does not change the others. */
  fork(): SeededRandom {
    return new SeededRandom(this.#uint32());
  }

  /** From 0 up to but not including 1. */
  next(): number {
    return this.#uint32() / 2 ** 32;
  }

  /** A whole number from 0 up to but not including `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** A whole number, both ends included. */
  between(from: number, to: number): number {
    return from + this.below(to - from + 1);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item;
  pick<Item>(items: readonly Item[]): Item | undefined;
  pick<Item>(items: readonly Item[]): Item | undefined {
    return items[this.below(items.length)];
  }

  /** Picks by weight. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries<number>(weights);
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name as Name;
    }
    return entries[0]?.[0] as Name;
  }

  /** A UUID version 7 of an instant. */
  uuidv7(milliseconds: number): string {
    const time = Math.floor(milliseconds).toString(16).padStart(12, '0');
    const random = Array.from({ length: 3 }, () =>
      this.#uint32().toString(16).padStart(8, '0'),
    ).join('');
    const variant = '89ab'[this.below(4)];
    return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(3, 6)}-${random.slice(6, 18)}`;
  }

  #uint32(): number {
    const s = this.#state;
    const [a = 0, b = 0, c = 0, d = 0] = s;
    const t = a ^ (a << 11);
    s[0] = b;
    s[1] = c;
    s[2] = d;
    s[3] = d ^ (d >>> 19) ^ t ^ (t >>> 8);
    return s[3] ?? 0;
  }
}
