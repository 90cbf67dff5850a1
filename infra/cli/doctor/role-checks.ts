import type { DoctorDatabase, Query } from './database.ts';
import { fail, ok, warn } from './finding.ts';
import type { Finding } from './finding.ts';

const ROLES = ['producer', 'worker', 'consumer', 'reader', 'operator', 'service'].map(
  (name) => `leasehold_${name}`,
);
const MIGRATE = 'Run npm run migrate, which grants each role exactly its routines.';

/** Whether everybody may do what they should, and no more. */
export async function checkRoles({ query }: DoctorDatabase): Promise<readonly Finding[]> {
  return [await rolesFinding(query), await closedFinding(query), await ownFinding(query)];
}

async function rolesFinding(query: Query): Promise<Finding> {
  const check = 'database.roles';
  const rows = await query<{ name: string; may_claim: boolean; may_read: boolean }>(
    `select r.rolname::text as name, r.rolcanlogin, r.rolsuper,
       exists (select from pg_proc p where p.pronamespace = 'leasehold'::regnamespace and p.proname = 'claim'
         and has_function_privilege(r.oid, p.oid, 'execute')) as may_claim,
       exists (select from pg_proc p where p.pronamespace = 'leasehold'::regnamespace and p.proname = 'get_job'
         and has_function_privilege(r.oid, p.oid, 'execute')) as may_read
     from pg_roles r where r.rolname = any ($1)`,
    [ROLES],
  );
  const byName = new Map(rows.map((row) => [row.name, row]));
  const missing = ROLES.filter((name) => !byName.has(name));
  if (missing.length > 0) {
    return warn(
      check,
      `missing: ${missing.join(', ')}`,
      `Where the migrating user may not make roles, an administrator does (create role ${missing[0]} nologin; …). Then npm run migrate.`,
    );
  }
  const claims = ['leasehold_worker', 'leasehold_service'];
  const reads = ['leasehold_reader', 'leasehold_operator', 'leasehold_service'];
  const wrong = rows.filter(
    ({ name, may_claim, may_read }) =>
      may_claim !== claims.includes(name) || may_read !== reads.includes(name),
  );
  if (wrong.length > 0) {
    return fail(check, `wrong grants: ${wrong.map(({ name }) => name).join(', ')}`, MIGRATE);
  }
  return ok(check, 'all six roles are there, each with its routines');
}

/** Tables are the owner's alone, and no routine is everybody's. */
async function closedFinding(query: Query): Promise<Finding> {
  const check = 'database.closed';
  const open = await query<{ what: string }>(
    `select format('%s (%s to %s)', c.relname, a.privilege_type,
       case a.grantee when 0 then 'everybody' else pg_get_userbyid(a.grantee) end) as what
     from pg_class c cross join lateral aclexplode(c.relacl) a
     where c.relnamespace = 'leasehold'::regnamespace
       and (a.grantee = 0 or pg_get_userbyid(a.grantee) = any ($1))
     union all
     select format('%s (execute to everybody)', p.proname)
     from pg_proc p
     cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
     where p.pronamespace = 'leasehold'::regnamespace and a.grantee = 0
     order by 1`,
    [ROLES],
  );
  if (open.length === 0) return ok(check, 'tables are closed to every role but the owner');
  return fail(
    check,
    `open: ${open.map(({ what }) => what).join(', ')}`,
    'Revoke it; a migration grants nobody a table. Routines are closed again by npm run migrate.',
  );
}

async function ownFinding(query: Query): Promise<Finding> {
  const check = 'database.own_rights';
  const [row] = await query<{ name: string; may: boolean; owner: boolean; super: boolean }>(
    `select current_user::text as name, r.rolsuper as super,
       pg_has_role(p.proowner, 'usage') as owner,
       has_function_privilege(p.oid, 'execute') as may
     from pg_proc p, pg_roles r
     where p.pronamespace = 'leasehold'::regnamespace and p.proname = 'claim' and r.rolname = current_user
     limit 1`,
  );
  if (row === undefined) return fail(check, 'there is no routine leasehold.claim', MIGRATE);
  const { name, may } = row;
  if (!may) {
    return fail(
      check,
      `${name} may not claim jobs, so the functions could not run with this DATABASE_URL`,
      `grant leasehold_service to "${name}";`,
    );
  }
  const as = row.super
    ? 'a superuser'
    : row.owner
      ? 'the owner of the schema'
      : 'a member of leasehold_service';
  return ok(check, `${name} is ${as}`);
}
