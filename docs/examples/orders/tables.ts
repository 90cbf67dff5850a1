import type pg from 'pg';

/** The orders service's own table, and the inventory's: two services, here in one database for brevity. */
export async function createTables(client: pg.Client | pg.Pool): Promise<void> {
  await client.query(`
    create table if not exists orders (
      id text primary key, sku text not null, quantity int not null, state text not null
    );
    create table if not exists stock (sku text primary key, reserved int not null check (reserved >= 0));
    create table if not exists reservations (
      order_id text primary key, sku text not null, quantity int not null, changes int not null
    );
  `);
}
