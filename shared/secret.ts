/**
 * Text that must not be printed by accident. Logging it, putting it into JSON or into a template gives `[redacted]`;
 * only `reveal()`, which is easy to search for, gives the text.
 *
 * @example String(new Secret('hunter2')) // '[redacted]'
 */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself. Call it where it is used, and keep the result out of longer-lived values. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return '[redacted]';
  }

  toJSON(): string {
    return '[redacted]';
  }
}
