/** `skipped`: nothing to go by, which `found` says. */
export type FindingStatus = 'ok' | 'warn' | 'fail' | 'skipped';

/** What one check saw. */
export interface Finding {
  /** `service.reachable`, `database.schema`, … Public: scripts build on it. */
  readonly check: string;
  readonly status: FindingStatus;
  readonly found: string;
  /** What to do about it; undefined when nothing is to be done. */
  readonly todo?: string;
}

export function ok(check: string, found: string): Finding {
  return { check, status: 'ok', found };
}

export function warn(check: string, found: string, todo: string): Finding {
  return { check, status: 'warn', found, todo };
}

export function fail(check: string, found: string, todo: string): Finding {
  return { check, status: 'fail', found, todo };
}

export function skipped(check: string, found: string, todo?: string): Finding {
  return { check, status: 'skipped', found, ...(todo === undefined ? {} : { todo }) };
}
