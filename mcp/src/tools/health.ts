import { describeHealth, titleOfCause } from 'phaseline/client-model'
import { further, quote, Unanswerable } from '../answer.ts'
import { gql } from '../gql.ts'
import { placeOf } from '../locate.ts'
import { limit, PROJECT, tool } from '../tool.ts'

const HEALTH = gql(`query McpHealth($project: String) {
  health(project: $project) {
    verdict causeCount isComplete
    causes { cause severity since project subject count message action object { id path project { name } } }
  }
}`)

export const health = tool({
  name: 'health',
  title: 'Health',
  description:
    'One verdict on whether work can continue, with its causes, the worst first, and the next action of each. Begin here.',
  input: { project: PROJECT, limit: limit(20, 5) },
  async run({ project = null, limit: most }, { client, signal, now }) {
    const found = (await client.query(HEALTH, { project }, { signal })).health
    if (!found) throw new Unanswerable(`There is no project ${project} that you may read.`)
    const causes = found.causes.slice(0, most)
    return {
      lines: [
        describeHealth(found),
        ...causes.flatMap((one) => [
          quote(titleOfCause(one, now)),
          `  ${quote(one.message)} ${one.action}`,
          ...(one.object ? [`  object: ${placeOf(one.object)}`] : []),
        ]),
        ...further(found.causeCount - causes.length, 'ask for one project, or with a higher limit.'),
      ],
      data: {
        verdict: found.verdict,
        causes: causes.map(({ cause, subject, object }) => ({ cause, subject, ...(object && { object: object.id }) })),
      },
    }
  },
})
