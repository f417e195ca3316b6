import { checkWords } from '../../../../cli/objects/check-words.ts'
import { markedPhase } from '../../../../cli/objects/phases.ts'
import type { LabelArgument } from '../../../../cli/options.ts'
import type { Session } from '../../../../cli/session.ts'
import { EXIT, type ExitCode } from '../../../../cli/terminal/exit.ts'
import { duration } from '../../../../cli/terminal/text.ts'
import { notFoundRefusal, readPages } from '../../../../client-model/index.ts'
import type { Phase } from '../../../../core/vocabulary.ts'
import { gql } from '../../../../documents/gql.ts'
import type { NodeOf, ResultOf } from '../../../../documents/typed-document.ts'

/** Options that select tasks; all must match. */
export interface TaskFilter {
  readonly project?: string
  readonly phase?: readonly Phase[]
  readonly label?: readonly LabelArgument[]
}

const LIST = gql(`query ListTasks($filter: ObjectFilter, $first: Int!, $after: String) {
  objects(filter: $filter, first: $first, after: $after, orderBy: { field: CREATED_AT, direction: DESC }) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node {
      id name phase phaseClass phaseSince createdAt finished project { name } error { code } children(first: 1) { totalCount }
    } }
  }
}`)
type ListedTask = NodeOf<ResultOf<typeof LIST>['objects']>

/** `task list`: the newest first. */
export async function listTasks(session: Session, filter: TaskFilter, limit: number): Promise<ExitCode> {
  const { client, io } = session
  const wrong = await checkWords(session, { phases: filter.phase })
  if (wrong) return session.refuse(wrong)
  const listed = await readPages(limit, async (first, after) => {
    const { objects } = await client.query(LIST, { filter: serverFilter(filter), first, after }, { signal: io.signal })
    return objects
  })
  if (!listed) return session.refuse(notFoundRefusal('There is nothing to list.'))
  session.emit({ totalCount: listed.totalCount, tasks: listed.nodes })
  const head = ['PROJECT', 'NAME', 'PHASE', 'JOBS', 'AGE', 'TOOK', 'ERROR']
  const now = Date.now()
  session.list({ head, rows: listed.nodes.map((task) => rowOf(task, now)), none: 'Nothing matches.', listed })
  return EXIT.ok
}

const serverFilter = ({ project, phase, label }: TaskFilter) => ({
  kinds: ['TASK'] as const,
  ...(project === undefined ? {} : { project }),
  ...(phase ? { phases: phase } : {}),
  ...(label ? { labels: label } : {}),
})

function rowOf(task: ListedTask, now: number): string[] {
  const { project, name, phase, phaseClass, phaseSince, createdAt, finished, children, error } = task
  return [
    project.name,
    name,
    markedPhase({ phase, phaseClass }),
    String(children.totalCount ?? ''),
    duration(Math.max(0, now - Date.parse(createdAt))),
    duration(Math.max(0, (finished ? Date.parse(phaseSince) : now) - Date.parse(createdAt))),
    error?.code ?? '',
  ]
}
