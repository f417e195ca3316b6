import type { Client } from '../../../store/client.ts'
import { array, jsonb, text, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import type { InvariantArgs, UnmetInvariant } from '../rules/invariants.ts'
import { lockNames, runsOf } from './export-names.ts'

/** The invariants of a project that a root installation has not met, and the roots that wait for one. */

/** A spec without the own values of its imports, except of those that are named. */
const compared = (spec: string, kept: string): string => `(${spec}::jsonb || jsonb_build_object('imports', coalesce((
  select jsonb_agg(case when m ->> 'name' = any(${kept}) then m else m - 'value' end order by n)
    from jsonb_array_elements(${spec}::jsonb -> 'imports') with ordinality t(m, n)), '[]')))`

const OTHER = `coalesce(i.after_name, $2)`
// Each generation that has succeeded is compared once: the present one, and those whose specs are kept. Locks are taken in this order.
const unmet = (name: string, suffix: string) =>
  statement({
    name,
    text: `select i.id, i.name as invariant, i.after_project_id as "projectId", i.after_project as project, ${OTHER} as name,
      i.same_values as "sameValues"
    from invariant i where i.project_id = $1 and not exists (
      select from object o cross join lateral (
        select s.spec from object_spec s where s.object_id = o.id
            and exists (select from run r where r.object_id = o.id and r.phase = 'SUCCEEDED' and r.generation = o.generation)
        union all
        select g.spec from spec_generation g where g.object_id = o.id
            and exists (select from run r where r.object_id = o.id and r.phase = 'SUCCEEDED' and r.generation = g.generation)
      ) s
      where o.project_id = i.after_project_id and o.kind = 'INSTALLATION' and o.name = ${OTHER} and o.parent_id is null
        and ${compared('s.spec', 'i.same_values')} = ${compared('$3', 'i.same_values')}
    ) order by "projectId", name, i.name ${suffix}`,
    params: [uuid, text, jsonb],
    row: {
      ...{ id: uuid, invariant: table.invariant.name, projectId: table.invariant.afterProjectId },
      ...{ project: table.invariant.afterProject, name: text, sameValues: table.invariant.sameValues },
    },
  })
const PEEK = unmet('peek-unmet-invariants', '')
// An edit waits until those that wait for the record have committed, and wakes them then.
const JUDGE = unmet('unmet-invariants', 'for key share of i')

/** SQL: those for which a root waits. */
export const UNMET_BY = (root: string): string => `(select jsonb_agg(jsonb_build_object('invariant', i.name,
    'project', i.after_project, 'name', w.name, 'sameValues', i.same_values) order by i.name)
  from invariant_wait w join invariant i on i.id = w.invariant_id where w.root_id = ${root})`

type Unmet = UnmetInvariant & { readonly id: string; readonly projectId: string }

const find = async (client: Client, which: typeof JUDGE, args: InvariantArgs): Promise<readonly Unmet[]> =>
  (await which.query(client, [args.projectId, args.name, JSON.stringify(args.spec)])).rows

/** Without locks: a run may end meanwhile. */
export const peekUnmet = (client: Client, args: InvariantArgs): Promise<readonly Unmet[]> => find(client, PEEK, args)

const WAIT = statement({
  name: 'wait-for-invariants',
  text: `with met as (delete from invariant_wait where root_id = $1 and not (invariant_id = any($2::uuid[])))
    insert into invariant_wait (root_id, invariant_id, project_id, name)
      select $1, * from unnest($2::uuid[], $3::uuid[], $4::text[])
      on conflict (root_id, invariant_id) do update set project_id = excluded.project_id, name = excluded.name`,
  params: [uuid, array(uuid), array(uuid), array(text)],
})

/**
 * The invariants for which the root waits from now on. Before it waits, it takes the lock that a run of the other root holds from
 * its success on, and asks again: so either it sees the success, or the run sees that it waits.
 */
export async function judgeInvariants(
  client: Client,
  rootId: string,
  args: InvariantArgs,
): Promise<readonly UnmetInvariant[]> {
  const locked = new Set<string>()
  let unmet = await find(client, JUDGE, args)
  // Others may be created meanwhile.
  while (unmet.some(({ id }) => !locked.has(id))) {
    for (const { id, projectId, name } of unmet) {
      await lockNames(client, projectId, [runsOf(name)])
      locked.add(id)
    }
    unmet = await find(client, JUDGE, args)
  }
  const column = <K extends keyof Unmet>(key: K) => unmet.map((one) => one[key])
  await WAIT.query(client, [rootId, column('id'), column('projectId'), column('name')])
  return unmet
}
