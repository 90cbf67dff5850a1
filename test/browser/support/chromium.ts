import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';
import { describe } from 'vitest';

export const NO_CHROMIUM =
  'There is no Chromium on this machine. On Debian: apt-get install chromium';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** The Chromium of this machine, or undefined when it has none. `CHROMIUM` names another. */
export function chromiumBinary(): string | undefined {
  const named = process.env['CHROMIUM'];
  if (named !== undefined && named !== '') return named;
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin'];
  return folders
    .filter((folder) => folder !== '')
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((file) => existsSync(file));
}

/** Tests in a real browser; where this machine has none they are left out, and say why. */
export function withBrowser(name: string, tests: () => void): void {
  const found = chromiumBinary() !== undefined;
  describe.runIf(found)(`${name}${found ? '' : ` (left out: ${NO_CHROMIUM})`}`, () => {
    tests();
  });
}

/** @throws with the package to install when this machine has no Chromium */
export async function launchChromium(): Promise<Browser> {
  const executablePath = chromiumBinary();
  if (executablePath === undefined) throw new Error(NO_CHROMIUM);
  return await chromium.launch({
    executablePath,
    // Debian's start script looks at the machine's memory; small shared memory of containers ends tabs otherwise.
    args: ['--disable-dev-shm-usage'],
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
}
