/** `npm run cli -- <command>` and `npx leasehold <command>`. See `npm run -s cli -- --help`. */
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { buffer } from 'node:stream/consumers';

import { runCommandLine } from './program.ts';

const BROKEN_PIPE = 'EPIPE';

for (const stream of [process.stdout, process.stderr]) {
  // Whoever reads has had enough (`| head`): that is no failure.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === BROKEN_PIPE ? 0 : 1);
  });
}

const { stdin, stdout, stderr, env } = process;
process.exitCode = await runCommandLine(process.argv.slice(2), {
  out: (text) => void stdout.write(text),
  err: (text) => void stderr.write(text),
  env,
  columns: stdout.isTTY ? stdout.columns : undefined,
  colours: { out: stdout.isTTY === true, err: stderr.isTTY === true },
  readStdin: () => buffer(stdin),
  ask: stdin.isTTY === true && stdout.isTTY ? ask : undefined,
  // npm changes into the folder of the project.
  folder: env['INIT_CWD'] ?? process.cwd(),
  now: () => Date.now(),
  // Ctrl-C ends the process; nothing has to be put away.
  signal: new AbortController().signal,
});

/** Ctrl-C, Ctrl-D and a closed terminal are no answer. */
async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: stdin, output: stdout });
  const closed = once(lines, 'close').then(() => '');
  try {
    return await Promise.race([lines.question(question).catch(() => ''), closed]);
  } finally {
    lines.close();
  }
}
