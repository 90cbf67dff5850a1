import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Faults that axe calls serious or critical, with the elements that have them. */
export async function seriousFaults(page: Page): Promise<string[]> {
  // The page's policy forbids scripts of others; the debugger's evaluation is not bound by it.
  await page.evaluate(`(() => { if (!window.axe) { ${AXE} } })()`);
  const results = await page.evaluate<AxeResults>('window.axe.run()');
  return results.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
    );
}
