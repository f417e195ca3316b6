import { CREATION, describeCreation, words } from 'phaseline/client-model'
import { type Answer, further, quote, Unanswerable } from '../answer.ts'
import { gql, type ResultOf } from '../gql.ts'
import { locate } from '../locate.ts'
import { limit, OBJECT, TIME, timeOf, tool } from '../tool.ts'

const TREE_AT = gql(`query McpTreeAt($rootId: ID!, $sequence: Sequence, $time: DateTime) {
  treeAt(rootId: $rootId, sequence: $sequence, time: $time) {
    sequence ${CREATION} objects { objectId parentId kind name phase phaseSince }
  }
}`)
type Past = NonNullable<ResultOf<typeof TREE_AT>['treeAt']>

export const howItWas = tool({
  name: 'how_it_was',
  title: 'How it was',
  description: 'The phases of an object and of all below it at a time, or at a sequence of the log.',
  input: {
    object: OBJECT,
    at: TIME.describe('A time such as 14:05 or 2h, or a sequence of the log such as #1042.'),
    limit: limit(200, 30),
  },
  async run({ object, at, limit: most }, { client, signal, now }) {
    const { id, root } = await locate(client, object, signal)
    const [, sequence] = /^#(\d{1,15})$/.exec(at) ?? []
    const when = sequence === undefined ? { time: timeOf(at, now) } : { sequence: Number(sequence) }
    const { treeAt } = await client.query(TREE_AT, { rootId: root.id, ...when }, { signal })
    if (!treeAt) throw new Unanswerable(`The log has no tree of ${object} any more.`)
    return describe(treeAt, id, most, now)
  },
})

function describe({ sequence, creation, objects }: Past, id: string, most: number, now: number): Answer {
  const byId = new Map(objects.map((one) => [one.objectId, one]))
  const pathOf = (one: (typeof objects)[number]): readonly string[] => {
    const parent = byId.get(one.parentId ?? '')
    return parent && one.objectId !== id ? [...pathOf(parent), one.name] : [one.name]
  }
  const isBelow = (one: (typeof objects)[number] | undefined): boolean =>
    one !== undefined && (one.objectId === id || isBelow(byId.get(one.parentId ?? '')))
  const below = objects.filter(isBelow)
  const counts = [...Map.groupBy(below, ({ phase }) => phase)].map(([phase, some]) => `${some.length} ${phase}`)
  const shown = below.slice(0, most)
  return {
    lines: [
      `at sequence ${sequence}: ${counts.join(', ') || `not there${creation ? `: its tree was ${quote(describeCreation(creation, now))}` : ''}`}`,
      ...shown.map((one) => `${pathOf(one).join('/')} (${words(one.kind)}) ${one.phase} since ${one.phaseSince}`),
      ...further(below.length - shown.length, 'ask for an object below it, or with a higher limit.'),
    ],
    data: { sequence, count: below.length },
  }
}
