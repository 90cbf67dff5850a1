import { CONTROL_QUEUE, type Control } from './control.ts';

/** Every floor is thrown away as it is written: the same code, which then always reads from the far left. */
const NEVER_A_FLOOR = `
create function leasehold.never_a_floor() returns trigger
language plpgsql
as $$
begin
  return null;
end
$$;
create trigger never_a_floor
  before insert on leasehold.claim_floors
  for each row execute function leasehold.never_a_floor();
`;

export const noFloors: Control = {
  name: 'no-floors',
  summary: 'our schema and routines, with no floor ever written',
  on: 'product',
  schema: NEVER_A_FLOOR,
  statements: {
    claim: `select * from leasehold.claim('${CONTROL_QUEUE}', $1::text, $2::uuid, 60)`,
    complete: 'select * from leasehold.complete($1::uuid, $2::text, $3::bigint)',
  },
};
