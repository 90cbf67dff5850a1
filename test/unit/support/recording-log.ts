import type { Log, LogFields } from '../../../shared/ports.ts';

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly event: string;
  readonly fields: LogFields;
}

/** A log that keeps its lines for the test to read. */
export class RecordingLog implements Log {
  readonly lines: LogLine[] = [];

  info(event: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'info', event, fields });
  }

  warn(event: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'warn', event, fields });
  }

  error(event: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'error', event, fields });
  }

  get events(): string[] {
    return this.lines.map(({ event }) => event);
  }

  /** Everything that was written, as one text to search. */
  get text(): string {
    return JSON.stringify(this.lines);
  }
}
