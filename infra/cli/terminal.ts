/** What the command line needs from the process that it runs in. */
export interface Terminal {
  /** Standard output: what was asked for, and nothing else. */
  readonly out: (text: string) => void;
  /** Standard error: what went wrong, and what a person may want to know beside the answer. */
  readonly err: (text: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Width of the terminal; undefined when standard output is a file or a pipe. */
  readonly columns: number | undefined;
  /** Whether output and errors may be coloured, unless NO_COLOR says otherwise. */
  readonly colours: { readonly out: boolean; readonly err: boolean };
  readonly readStdin: () => Promise<Uint8Array>;
  /** Asks the person and gives the answer; undefined where there is nobody to ask. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** File names on the command line start here. */
  readonly folder: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  /** Fires when the person has had enough of what goes on until then. */
  readonly signal: AbortSignal;
}
