import type pg from 'pg';

/** Where orders, events and stock stand. */
export interface Tally {
  readonly orders: number;
  readonly events: number;
  readonly published: number;
  /** Events that the inventory has applied. */
  readonly applied: number;
  /** Deliveries that the inbox knew already. */
  readonly duplicates: number;
  /** Orders whose reservation is not the order's quantity, or not by one effect an event; `-1`: no orders yet. */
  readonly wrong: number;
  /** Whether the stock is the sum of the orders, for each article. */
  readonly stockIsRight: boolean;
}

export async function tally(client: pg.Pool | pg.Client): Promise<Tally> {
  const { rows } = await client.query<{ tally: Tally }>(`
    select jsonb_build_object(
      'orders', (select count(*) from orders),
      'events', (select count(*) from leasehold.outbox_events),
      'published', (select count(*) from leasehold.outbox_published),
      'applied', (select count(*) from leasehold.inbox_events where consumer = 'inventory'),
      'duplicates', (select coalesce(sum(duplicates), 0) from leasehold.inbox_events where consumer = 'inventory'),
      'wrong', (select count(*)
        from orders o
        left join reservations r on r.order_id = o.id
        where r.quantity is distinct from o.quantity
          or r.changes is distinct from (select count(*) from leasehold.outbox_events e where e.aggregate_id = o.id)),
      'stockIsRight', not exists (
        select from (select sku, sum(quantity) as quantity from orders group by sku) o
        full join stock s using (sku)
        where s.reserved is distinct from o.quantity)
    ) as tally
  `);
  return (
    rows[0]?.tally ?? {
      orders: 0,
      events: 0,
      published: 0,
      applied: 0,
      duplicates: 0,
      wrong: -1,
      stockIsRight: false,
    }
  );
}
