import { expect, test } from 'vitest'
import { createKindRegistry } from '../../src/graphql/family.ts'
import type { Client } from '../../src/store/client.ts'
import { countObjects, countTrees, findObjects, type ObjectOrder } from '../../src/store/loaders/find-objects.ts'
import { loaded } from '../testkit/mutate.ts'
import { borrowDatabase } from '../testkit/postgres.ts'

/** Lists go through all objects where no index leads to theirs, and through them once. */

const TREES = 500
const OBJECTS = 100
/** Finished trees of an installation, an execution and its items. */
const FILL = `
set session_replication_role = replica;
insert into project (id, name, created_at, updated_at) values (gen_random_uuid(), 'filled', now(), now());
insert into object (id, root_id, parent_id, project_id, kind, name, ordinal, phase, phase_since, job_id, finished_job_id, created_at, updated_at)
  select id_of(tree, n), id_of(tree, 0), case n when 0 then null when 1 then id_of(tree, 0) else id_of(tree, 1) end, p.id,
    case n when 0 then 'INSTALLATION' when 1 then 'EXECUTION' else 'DEPLOY_ITEM' end::object_kind, 'o-' || tree || '-' || n, n, 'SUCCEEDED',
    now(), id_of(tree, 0), id_of(tree, 0), now(), now()
  from project p, generate_series(1, ${TREES}) tree, generate_series(0, ${OBJECTS - 1}) n where p.name = 'filled';
insert into installation (object_id) select id from object where kind = 'INSTALLATION';
insert into tally (object_id, total) select id, ${OBJECTS} from object where kind <> 'DEPLOY_ITEM';
analyze object, installation, tally;`
const ID_OF = `create function pg_temp.id_of(tree int, n int) returns uuid immutable language sql
  as $$ select (lpad(to_hex(tree), 12, '0') || '700080000000' || lpad(to_hex(n), 8, '0'))::uuid $$;`

interface PlanNode {
  readonly 'Node Type'?: string
  readonly 'Relation Name'?: string
  readonly Alias?: string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly PlanNode[]
}
const nodesOf = (plan: PlanNode): readonly PlanNode[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

test('a list of what is not finished, and the counts of trees, read no object for the sake of another one that has ended; health reads few', async () => {
  const kinds = createKindRegistry(loaded.map(({ graphql }) => graphql))
  const { finishedRule: rule } = kinds
  await using database = await borrowDatabase()
  const connection = await database.pool.connect()
  try {
    await connection.query('begin')
    await connection.query(`${ID_OF}${FILL.replaceAll('id_of(', 'pg_temp.id_of(')}`)
    const scanned: string[] = []
    const whole: string[] = []
    const explaining = {
      query: async ({ text, values }: { readonly text: string; readonly values: unknown[] }) => {
        const { rows } = await connection.query(`explain (format json) ${text}`, values)
        const [{ Plan: plan }] = rows[0]['QUERY PLAN'] as [{ Plan: PlanNode }]
        for (const { 'Relation Name': table, 'Node Type': type, Alias: alias = '', 'Index Cond': found } of nodesOf(
          plan,
        )) {
          if (table === 'object' && found === undefined) scanned.push(alias)
          if (table === 'object' && type === 'Seq Scan') whole.push(text)
        }
        return { rows: [] }
      },
    } as unknown as Client
    const open = { projects: null, finished: false }
    const { rows: roots } = await connection.query('select id from object where parent_id is null')
    await countObjects(explaining, open, rule)
    await countObjects(explaining, { ...open, rootsOnly: true }, rule)
    const window = { limit: 200, backward: false, after: null, before: null }
    await findObjects(explaining, open, rule, { field: 'NAME', direction: 'ASC' }, window)
    await countTrees(
      explaining,
      roots.map(({ id }) => id),
      rule,
    )
    expect(scanned.filter((alias) => alias !== 'o')).toEqual([])
    expect(scanned).toContain('o')
    // The health of all projects reads roots by their index, and the objects of some trees by theirs.
    whole.length = 0
    const { failedPhases: phases, undecided: anyOf } = kinds
    const oldest: ObjectOrder = { field: 'CREATED_AT', direction: 'ASC' }
    const rootIds = roots.slice(0, 200).map(({ id }) => id)
    for (const tree of [{ rootsOnly: true }, { rootIds }])
      for (const asked of [{ finished: false }, { phases }, { anyOf }])
        await findObjects(explaining, { projects: null, ...tree, ...asked }, rule, oldest, window)
    expect(whole).toEqual([])
  } finally {
    await connection.query('rollback')
    connection.release()
  }
})
