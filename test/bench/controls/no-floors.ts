import type { Control } from './control.ts';
import { PRODUCT_STATEMENTS } from './product.ts';

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
  statements: PRODUCT_STATEMENTS,
};
