import { forbidden, invalidInput, notFound, type RefusalOf } from '../../../core/errors.ts'
import { type LabelInput, labelsOf } from '../../../core/labels.ts'
import type { Labels } from '../../../core/place.ts'
import type { Outcome } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { Problems } from '../../../core/problems.ts'
import { requireRight } from '../../../core/rights.ts'
import { checkRuntime, checkWord } from '../../../projects/rules/names.ts'
import { recordDone } from '../../../store/audit.ts'
import type { Client } from '../../../store/client.ts'
import { array, integer, json, nullable, text, timestamptz, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import * as table from '../../../store/tables.ts'
import { refuse } from '../../access.ts'
import type { PipelinesParts } from '../commands/parts.ts'
import { rights } from '../rights.ts'
import { loadPlaces, type PlaceRow } from './store/place-queries.ts'

/** Places of runtimes: a runtime registers its own, an administrator drains them. */

type Placed<R extends 'InvalidInputError' | 'NotFoundError' | 'ForbiddenError' | 'LimitError'> = Outcome<
  { readonly places: readonly PlaceRow[] },
  RefusalOf<R>
>

export interface RegisterPlace {
  readonly name: string
  readonly type: string
  readonly labels: readonly LabelInput[]
  readonly capacity?: number | null
}

/** Bounds the places of one principal. */
const MAX_PLACES = 1_000
const MAX_CAPACITY = 100_000

/** Says what a place is like. It may be repeated; a drain stays. */
export async function registerPlace(
  { trees, pool, system }: Pick<PipelinesParts, 'trees' | 'pool' | 'system'>,
  viewer: Viewer,
  { name, type, labels: given, capacity = null }: RegisterPlace,
): Promise<Placed<'InvalidInputError' | 'ForbiddenError' | 'LimitError'>> {
  const refused = requireRight(viewer, rights.registerPlace) ?? beyond(viewer, name, type)
  if (refused) return refuse(refused)
  const problems = new Problems()
  checkWord(name, 'input.name', problems)
  checkRuntime(type, 'input.type', problems)
  const labels = labelsOf(given, problems)
  if (capacity !== null && !(capacity >= 1 && capacity <= MAX_CAPACITY))
    problems.add('input.capacity', `must be from 1 to ${MAX_CAPACITY}`)
  if (problems.found.length > 0) return refuse(invalidInput(problems.found))
  const place = { id: system.id(), principalId: viewer.principalId, type, name, labels, capacity, now: system.now() }
  const id = await trees.inRecord(`The place ${name}`, (client) => register(client, place))
  if (id === null) {
    const message = `A principal has at most ${MAX_PLACES} places: give each runtime one name that stays the same.`
    return refuse({ type: 'LimitError', message, limit: MAX_PLACES })
  }
  return { ok: true, places: await loadPlaces(pool, [id]) }
}

function beyond({ types, targets }: Viewer, name: string, type: string): RefusalOf<'ForbiddenError'> | null {
  if (types !== null && !types.includes(type))
    return forbidden(`This token may claim only work of the types ${types.join(', ')}.`)
  if (targets !== null && !targets.includes(name))
    return forbidden(`This token may work only for the targets ${targets.join(', ')}.`)
  return null
}

const REGISTER = statement({
  text: `insert into place (id, principal_id, type, name, labels, capacity, registered_at)
      select $1, $2, $3, $4, $5, $6, $7
      where (select count(*) from place where principal_id = $2) < ${MAX_PLACES}
        or exists (select from place where principal_id = $2 and type = $3 and name = $4)
      on conflict (principal_id, type, name) do update set labels = excluded.labels, capacity = excluded.capacity
      returning id`,
  params: [uuid, uuid, text, text, json<Labels>(), nullable(integer), timestamptz],
  row: { id: table.place.id },
})

interface NewPlace {
  readonly id: string
  readonly principalId: string
  readonly type: string
  readonly name: string
  readonly labels: Labels
  readonly capacity: number | null
  readonly now: Date
}
/** Null: the principal has too many. */
async function register(client: Client, { id, principalId, type, name, labels, capacity, now }: NewPlace) {
  const { rows } = await REGISTER.query(client, [id, principalId, type, name, labels, capacity, now])
  return rows[0]?.id ?? null
}

export interface NamedPlace {
  readonly name: string
  /** Null: of every type. */
  readonly type?: string | null
}

/** From now on these places start nothing but jobs of workers whose workspace they have. */
export const drainPlace = (
  parts: Pick<PipelinesParts, 'trees' | 'pool' | 'system'>,
  viewer: Viewer,
  { reason, ...place }: NamedPlace & { readonly reason?: string | null },
): Promise<Placed<'NotFoundError' | 'ForbiddenError'>> =>
  change(parts, viewer, place, { at: parts.system.now(), by: viewer.name, reason: reason ?? null })

export const undrainPlace = (
  parts: Pick<PipelinesParts, 'trees' | 'pool'>,
  viewer: Viewer,
  place: NamedPlace,
): Promise<Placed<'NotFoundError' | 'ForbiddenError'>> =>
  change(parts, viewer, place, { at: null, by: null, reason: null })

// In the order in which claims lock several places.
const LOCK_NAMED = statement({
  text: `select id from place where name = $1 and ($2::text is null or type = $2)
      order by principal_id, type, name for no key update`,
  params: [text, nullable(text)],
  row: { id: table.place.id },
})
const CHANGE = statement({
  text: `update place set drained_at = case when $2::timestamptz is not null then coalesce(drained_at, $2) end,
      drained_by = $3, drain_reason = $4 where id = any($1::uuid[])`,
  params: [array(uuid), nullable(timestamptz), nullable(text), nullable(text)],
})

async function change(
  { trees, pool }: Pick<PipelinesParts, 'trees' | 'pool'>,
  viewer: Viewer,
  { name, type = null }: NamedPlace,
  drain: { readonly at: Date | null; readonly by: string | null; readonly reason: string | null },
): Promise<Placed<'NotFoundError' | 'ForbiddenError'>> {
  const refused = requireRight(viewer, rights.drainPlace)
  if (refused) return refuse(refused)
  const ids = await trees.inRecord(`The place ${name}`, async (client) => {
    const { rows } = await LOCK_NAMED.query(client, [name, type])
    const found = rows.map(({ id }) => id)
    if (found.length === 0) return found
    await CHANGE.query(client, [found, drain.at, drain.by, drain.reason])
    if (viewer.call)
      await recordDone(client, viewer.call, { ...(found.length === 1 && { objectId: found[0] as string }) })
    return found
  })
  if (ids.length === 0) return refuse(notFound(null, 'place', name))
  return { ok: true, places: await loadPlaces(pool, ids) }
}
