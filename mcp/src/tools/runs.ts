import { describeRun, FAILURE_FIELDS, nodesOf } from 'phaseline/client-model'
import { further, quote, Unanswerable } from '../answer.ts'
import { gql } from '../gql.ts'
import { locate } from '../locate.ts'
import { limit, OBJECT, tool } from '../tool.ts'

const RUNS = gql(`query McpRuns($id: ID!, $first: Int!) {
  object(id: $id) { __typename ... on Installation { runs(first: $first) { totalCount edges { node {
    number phase cause by generation startedAt durationMs error { ${FAILURE_FIELDS} }
  } } } } }
}`)

export const runs = tool({
  name: 'runs',
  title: 'Runs',
  description:
    'The runs of a root installation, the newest first: how each ended, how long it took, who caused it, and what failed by itself.',
  input: { object: OBJECT, limit: limit(50, 10) },
  async run({ object: named, limit: first }, { client, signal }) {
    const { id } = await locate(client, named, signal)
    const { object } = await client.query(RUNS, { id, first }, { signal })
    if (object?.__typename !== 'Installation')
      throw new Unanswerable(`${named} is no installation: only installations have runs.`)
    const found = nodesOf(object.runs)
    return {
      lines: [
        ...found.map((run) => `${run.startedAt} ${quote(describeRun(run))}`),
        ...(found.length === 0 ? ['It has had no run yet. A nested installation runs with its root.'] : []),
        ...further((object.runs.totalCount ?? 0) - found.length, 'ask with a higher limit.'),
      ],
      data: { runs: found.map(({ number, phase }) => ({ number, phase })) },
    }
  },
})
