import type { PhaseClass } from '../../core/machine.ts'
import { checkWords } from '../objects/check-words.ts'
import { describeRest, type Page, type PagedList, readPages } from '../objects/pages.ts'
import { markedPhase } from '../objects/phases.ts'
import { notFoundRefusal } from '../objects/refusal.ts'
import type { LabelArgument } from '../options.ts'
import type { Session } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { table } from '../terminal/table.ts'
import { duration } from '../terminal/text.ts'

/** Which tasks: all that is given must hold. */
export interface TaskFilter {
  readonly project?: string
  readonly phase?: readonly string[]
  readonly label?: readonly LabelArgument[]
}
interface ListedTask {
  readonly id: string
  readonly name: string
  readonly phase: string
  readonly phaseClass: PhaseClass
  readonly phaseSince: string
  readonly createdAt: string
  readonly finished: boolean
  readonly project: { readonly name: string }
  readonly error: { readonly code: string } | null
  readonly children: { readonly totalCount: number | null }
}

const LIST = `query ListTasks($filter: ObjectFilter, $first: Int!, $after: String) {
  objects(filter: $filter, first: $first, after: $after, orderBy: { field: CREATED_AT, direction: DESC }) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node {
      id name phase phaseClass phaseSince createdAt finished project { name } error { code } children(first: 1) { totalCount }
    } }
  }
}`

/** `task list`: the newest first. */
export async function listTasks(session: Session, filter: TaskFilter, limit: number): Promise<ExitCode> {
  const { client, io } = session
  const wrong = await checkWords(session, { phases: filter.phase })
  if (wrong) return session.refuse(wrong)
  const listed = await readPages(limit, async (first, after) => {
    const { objects } = await client.query<{ objects: Page<ListedTask> | null }>(
      LIST,
      { filter: serverFilter(filter), first, after },
      { signal: io.signal },
    )
    return objects
  })
  if (!listed) return session.refuse(notFoundRefusal('There is nothing to list.'))
  session.emit({ totalCount: listed.totalCount, tasks: listed.nodes })
  session.say(...describeTasks(listed, Date.now()))
  return EXIT.ok
}

const serverFilter = ({ project, phase, label }: TaskFilter): object => ({
  kinds: ['TASK'],
  ...(project === undefined ? {} : { project }),
  ...(phase ? { phases: phase } : {}),
  ...(label ? { labels: label } : {}),
})

function describeTasks(listed: PagedList<ListedTask>, now: number): string[] {
  if (listed.totalCount === 0) return ['Nothing matches.']
  const rows = listed.nodes.map(
    ({ project, name, phase, phaseClass, phaseSince, createdAt, finished, children, error }) => [
      project.name,
      name,
      markedPhase({ phase, phaseClass }),
      String(children.totalCount ?? ''),
      duration(Math.max(0, now - Date.parse(createdAt))),
      duration(Math.max(0, (finished ? Date.parse(phaseSince) : now) - Date.parse(createdAt))),
      error?.code ?? '',
    ],
  )
  return [...table(['PROJECT', 'NAME', 'PHASE', 'JOBS', 'AGE', 'TOOK', 'ERROR'], rows), ...describeRest(listed)]
}
