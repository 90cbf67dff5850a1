import pg from 'pg';
import type { Upstream } from './cancel.ts';
import type { Credentials } from './credentials.ts';
import { connectError } from './error-response.ts';
import { IDLE_CONNECTION_MS } from './limits.ts';

export interface PoolLimits {
  readonly poolSize: number;
  readonly connectionWaitMs: number;
}

export interface Pools {
  /** A connection with a clean session, or an `EndpointError`. */
  acquire(credentials: Credentials): Promise<pg.PoolClient>;
  /** Waits for connections in use. */
  end(): Promise<void>;
}

/**
 * A pool per user, password and database, made at first use and forgotten when its last connection closes. The
 * password is part of the key: a caller with a wrong one must not get a connection that another opened.
 */
export function createPools(upstream: Upstream, { poolSize, connectionWaitMs }: PoolLimits): Pools {
  const pools = new Map<string, pg.Pool>();

  const poolFor = (key: string, { user, password, database }: Credentials): pg.Pool => {
    const existing = pools.get(key);
    if (existing) return existing;
    const pool = new pg.Pool({
      ...upstream,
      user,
      password,
      database,
      ssl: false,
      application_name: 'leasehold-sql-endpoint',
      max: poolSize,
      idleTimeoutMillis: IDLE_CONNECTION_MS,
      connectionTimeoutMillis: connectionWaitMs,
    });
    // A connection that the server closed. Idle, the pool has dropped it already; in use, the statement fails.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
    pool.on('remove', () => forgetIfEmpty(key, pool));
    pools.set(key, pool);
    return pool;
  };
  const forgetIfEmpty = (key: string, pool: pg.Pool): void => {
    if (pool.totalCount === 0 && pool.waitingCount === 0) pools.delete(key);
  };

  return {
    acquire: async (credentials) => {
      const { user, password, database } = credentials;
      const key = JSON.stringify([user, password, database]);
      const pool = poolFor(key, credentials);
      try {
        return await pool.connect();
      } catch (error) {
        forgetIfEmpty(key, pool);
        throw connectError(error, user);
      }
    },
    end: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.end()));
    },
  };
}
