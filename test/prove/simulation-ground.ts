import pg from 'pg';
import { migrate } from '../../infra/migrate.ts';
import { prepareGround, type Ground } from '../simulation/world/ground.ts';
import type { Lab } from './experiment.ts';

const TEMPLATE = 'simulation_template';

/** Where simulated databases are made from, on the server of the experiment. */
export async function simulationTemplate({
  pool,
}: Pick<Lab, 'pool'>): Promise<{ readonly server: string; readonly template: string }> {
  const url = new URL(pool.options.connectionString ?? '');
  const server = url.href.slice(0, url.href.length - url.pathname.length);
  const admin = new pg.Client({ connectionString: `${server}/postgres` });
  await admin.connect();
  await admin.query(`drop database if exists ${TEMPLATE}`);
  await admin.query(`create database ${TEMPLATE}`);
  await admin.end();
  await migrate({ connectionString: `${server}/${TEMPLATE}`, log: () => undefined });
  return { server, template: TEMPLATE };
}

export async function simulatedGround(lab: Pick<Lab, 'pool'>): Promise<Ground> {
  return await prepareGround(await simulationTemplate(lab));
}
