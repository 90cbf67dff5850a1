import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

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
