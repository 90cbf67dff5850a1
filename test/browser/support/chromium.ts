import { chromium, type Browser } from 'playwright-core';
import { describe } from 'vitest';
import { NO_CHROMIUM, chromiumBinary } from './chromium-binary.ts';

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
