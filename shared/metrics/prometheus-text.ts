import { MEASURES } from './measures.ts';
import type { MeasureName, Sample } from './measures.ts';

/** Of the text below. */
export const PROMETHEUS_MEDIA_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Samples in the text format of Prometheus. Each measure comes once, with its samples behind it; one without samples is left
 * out.
 *
 * @example prometheusText([{ name: 'leasehold_lock_waits', labels: {}, value: 0 }])
 */
export function prometheusText(samples: readonly Sample[]): string {
  const byName = Map.groupBy(samples, ({ name }) => name);
  const lines: string[] = [];
  for (const [name, ofName] of byName) {
    lines.push(`# HELP ${name} ${MEASURES[name].help}`, `# TYPE ${name} gauge`);
    lines.push(...ofName.map(({ labels, value }) => line(name, labels, value)));
  }
  return `${lines.join('\n')}\n`;
}

function line(name: MeasureName, labels: Sample['labels'], value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
