import type pg from 'pg';
import type { Sql } from '../../shared/ports.ts';

/** What an experiment gets. */
export interface Lab {
  readonly pool: pg.Pool;
  /** The port that operations take, over direct connections. */
  readonly sql: Sql;
  /** A form that continuous integration can afford. */
  readonly short: boolean;
  /** `--name value` as given, for experiments that know the name. */
  readonly options: Readonly<Record<string, string>>;
  print(line: string): void;
  /** One line that is overwritten on a terminal and left out elsewhere. */
  progress(line: string): void;
}

export interface Experiment {
  readonly name: string;
  readonly summary: string;
  /** Prints its findings; returns what did not hold, nothing when all did. */
  run(lab: Lab): Promise<readonly string[]>;
}
