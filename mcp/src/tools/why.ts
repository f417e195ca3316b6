import {
  causeText,
  describeBlocker,
  duration,
  FAILURE_FIELDS,
  forecastText,
  shownBlockers,
  tellTimes,
  words,
} from 'phaseline/client-model'
import { type Answer, codeOf, further, quote, Unanswerable } from '../answer.ts'
import { gql, type ResultOf } from '../gql.ts'
import { locate, placeOf } from '../locate.ts'
import { type Call, limit, OBJECT, tool } from '../tool.ts'

const WHY = gql(`query McpWhy($id: ID!) {
  object(id: $id) {
    id kind path project { name } parent { id } phase phaseSince finished
    error { causeCount ${FAILURE_FIELDS} }
    blockedBy(first: 5) { reason message source { id path } ... on DecisionBlocker { verbs { label } } }
    deadlines { name expiresAt to message }
    forecast { p50 p90 runs }
    verbs { name allowed }
  }
}`)
const TAIL = gql(`query McpTail($filter: OutputFilter!, $last: Int!) {
  output(filter: $filter, last: $last) { edges { node { text } } }
}`)
type Found = NonNullable<ResultOf<typeof WHY>['object']>

export const why = tool({
  name: 'why',
  title: 'Why',
  description:
    'Why an object has failed or waits: the root cause, also one elsewhere in its tree, the last output of what failed, what happens next, and what you may do.',
  input: { object: OBJECT, lines: limit(50, 3).describe('Lines of output, at most.') },
  async run({ object: named, lines }, call) {
    const { id } = await locate(call.client, named, call.signal)
    const { object } = await call.client.query(WHY, { id }, { signal: call.signal })
    if (!object) throw new Unanswerable(`${named} is gone.`)
    return await explain(object, lines, call)
  },
})

async function explain(object: Found, last: number, { client, signal, now }: Call): Promise<Answer> {
  const { error, deadlines, blockedBy } = object
  const cause = error && (error.rootCause ?? { ...error, objectId: object.id, name: object.path, object })
  const blockers = shownBlockers(blockedBy)
  // The error of an event is that of its worker, which has printed.
  const whole = object.parent === null && !error?.rootCause
  const filter = whole ? { rootId: object.id } : { objectId: cause?.objectId ?? object.id }
  const output = cause ? (await client.query(TAIL, { filter, last }, { signal })).output : null
  const expected = object.finished ? null : forecastText(object.forecast, now, duration)
  const may = object.verbs.flatMap(({ name, allowed }) => (allowed ? [name] : []))
  const isQuiet = !cause && blockers.length === 0
  return {
    lines: [
      `${placeOf(object)} (${words(object.kind)}) ${object.phase} for ${duration(now - Date.parse(object.phaseSince))}`,
      ...(cause ? [`root cause: ${quote(causeText(cause))}`] : []),
      ...further((error?.causeCount ?? 0) - 1, 'search lists the objects that have failed.'),
      ...(output?.edges ?? []).map(({ node }) => `output: ${quote(node?.text ?? '')}`),
      ...blockers.map((blocker) => quote(describeBlocker(blocker, now))),
      ...(isQuiet ? [object.finished ? 'It has ended, and nothing waits.' : 'It runs, and waits for nothing.'] : []),
      ...deadlines.map(({ name, expiresAt, to, message }) =>
        tellTimes(`deadline: ${name} at ${expiresAt}${to ? `, then ${to}` : ''}: ${quote(message)}`, now),
      ),
      ...(expected ? [`expected: ${expected}`] : []),
      ...(may.length > 0 ? [`may: ${may.join(', ')}`] : []),
    ],
    data: {
      id: object.id,
      phase: object.phase,
      ...(cause && { cause: { code: codeOf(cause.code), object: cause.objectId } }),
      waits: blockers.map(({ reason, source }) => ({ reason, ...(source && { object: source.id }) })),
    },
  }
}
