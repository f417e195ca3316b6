import { duration, nodesOf, words } from 'phaseline/client-model'
import { z } from 'zod'
import { type Answer, quote, Unanswerable } from '../answer.ts'
import { gql } from '../gql.ts'
import { type Located, locate, placeOf } from '../locate.ts'
import { type Call, limit, OBJECT, PROJECT, TIME, text, timeOf, tool } from '../tool.ts'

const LOG = gql(`query McpLog($filter: PhaseChangeFilter, $last: Int!) {
  phaseChanges(filter: $filter, last: $last) { pageInfo { hasPreviousPage } edges { node {
    sequence at path projectName from to actor by reason message rejected
  } } }
}`)
const OUTPUT = gql(`query McpOutput($filter: OutputFilter, $last: Int!) {
  output(filter: $filter, last: $last) { pageInfo { hasPreviousPage } edges { node {
    at stream text object { path project { name } }
  } } }
}`)
const OBJECTS = gql(`query McpObjects($filter: ObjectFilter, $field: ObjectOrderField!, $first: Int!) {
  objects(filter: $filter, orderBy: { field: $field, direction: DESC }, first: $first) { totalCount edges { node {
    id kind path project { name } phase phaseSince error { code }
  } } }
}`)

export const search = tool({
  name: 'search',
  title: 'Search',
  description:
    'Searches the log of phase changes, what work has printed, or objects by name: the newest that match. Without words: the newest of all. Objects: also those that have failed, or are not finished.',
  input: {
    in: z.enum(['log', 'output', 'objects']),
    words: text('All of them must occur. For objects: a part of the name.', 255).optional(),
    object: OBJECT.optional(),
    project: PROJECT,
    state: z.enum(['failed', 'unfinished', 'undecided']).optional().describe('For objects alone.'),
    since: TIME.optional(),
    until: TIME.optional(),
    limit: limit(100, 10),
  },
  async run({ in: place, words: wanted, object, project, state, since, until, limit: most }, call) {
    const located = object === undefined ? null : await locate(call.client, object, call.signal)
    if (place === 'objects') {
      if (located || since !== undefined || until !== undefined)
        throw new Unanswerable('Objects are found by words, project and state alone. The tool why explains one.')
      const states = { failed: { failed: true }, unfinished: { finished: false }, undecided: { undecided: true } }
      const filter = {
        ...(wanted && { nameContains: wanted }),
        ...(project && { project }),
        ...(state && states[state]),
      }
      return await inObjects(filter, most, call)
    }
    const filter = {
      ...(wanted && { search: wanted }),
      ...(located ? within(located) : project && { project }),
      ...(since !== undefined && { since: timeOf(since, call.now) }),
      ...(until !== undefined && { until: timeOf(until, call.now) }),
    }
    return place === 'log' ? await inLog(filter, most, call) : await inOutput(filter, most, call)
  },
})

/** A root stands for its whole tree. */
const within = ({ id, root }: Located) => (id === root.id ? { rootId: id } : { objectId: id })

async function inLog(filter: object, last: number, { client, signal }: Call): Promise<Answer> {
  const { phaseChanges } = await client.query(LOG, { filter: { includeRejected: true, ...filter }, last }, { signal })
  const found = nodesOf(phaseChanges)
  return {
    lines: [
      ...found.map(({ sequence, at, projectName, path, from, to, actor, by, reason, message, rejected }) => {
        const who = by === null ? actor : `${actor} ${quote(by, 60)}`
        const said = message ?? reason
        return `#${sequence} ${at} ${projectName}/${path} ${from ?? '(new)'} → ${to}${rejected ? ' refused' : ''} ${who}${said ? `: ${quote(said)}` : ''}`
      }),
      ...rest(found.length, phaseChanges?.pageInfo.hasPreviousPage),
    ],
    data: { count: found.length, first: found[0]?.sequence ?? null },
  }
}

async function inOutput(filter: object, last: number, { client, signal }: Call): Promise<Answer> {
  const { output } = await client.query(OUTPUT, { filter, last }, { signal })
  const found = nodesOf(output)
  return {
    lines: [
      ...found.map(
        ({ at, stream, text: line, object }) => `${at} ${object ? placeOf(object) : 'gone'} ${stream}: ${quote(line)}`,
      ),
      ...rest(found.length, output?.pageInfo.hasPreviousPage),
    ],
    data: { count: found.length },
  }
}

/** The newest are read: older ones are before the first line. */
const rest = (count: number, more = false): readonly string[] => [
  ...(count === 0 ? ['Nothing matches.'] : []),
  ...(more ? ['… and older ones: ask with until, the time of the first line, or with a higher limit.'] : []),
]

async function inObjects(
  filter: { readonly nameContains?: string; readonly failed?: boolean },
  first: number,
  { client, signal, now }: Call,
): Promise<Answer> {
  const { objects } = await client.query(
    OBJECTS,
    { filter, field: filter.failed ? 'PHASE_SINCE' : 'CREATED_AT', first },
    { signal },
  )
  const found = nodesOf(objects)
  const more = (objects?.totalCount ?? 0) - found.length
  return {
    lines: [
      ...found.map(({ kind, phase, phaseSince, error, ...one }) => {
        const code = error ? ` ${quote(error.code, 60)}` : ''
        return `${placeOf(one)} (${words(kind)}) ${phase}${code} for ${duration(now - Date.parse(phaseSince))}`
      }),
      ...(found.length === 0 ? ['Nothing matches.'] : []),
      ...(more > 0 ? [`… and ${more} more: ask with words, a project, a state or a higher limit.`] : []),
    ],
    data: { totalCount: objects?.totalCount ?? null, ids: found.map(({ id }) => id) },
  }
}
