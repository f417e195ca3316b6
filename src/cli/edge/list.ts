import type { PhaseClass } from '../../core/machine.ts'
import { checkWords } from '../objects/check-words.ts'
import { describeRest, type Page, readPages } from '../objects/pages.ts'
import { markedPhase } from '../objects/phases.ts'
import { notFoundRefusal } from '../objects/refusal.ts'
import type { LabelArgument } from '../options.ts'
import type { Session } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { table } from '../terminal/table.ts'
import { duration } from '../terminal/text.ts'
import { describeFlags } from './describe.ts'
import { type EdgeKind, type InstanceKind, NOUNS } from './kinds.ts'
import { pathOf } from './write.ts'

/** Which objects: all that is given must hold. */
export interface EdgeFilter {
  readonly project?: string
  readonly phase?: readonly string[]
  readonly label?: readonly LabelArgument[]
}
interface Listed {
  readonly id: string
  readonly name: string
  readonly phase: string
  readonly phaseClass: PhaseClass
  readonly phaseSince: string
  readonly createdAt: string
  readonly finished: boolean
  readonly project: { readonly name: string }
  readonly root: { readonly id: string; readonly name: string }
  readonly parent: { readonly id: string; readonly name: string } | null
  readonly error: { readonly code: string } | null
  readonly children: { readonly totalCount: number | null }
}
interface ListedCloudlet extends Listed {
  readonly upgradePhase: string
  readonly epoch: number
  readonly version: string | null
}
interface ListedInstance extends Listed {
  readonly specRevision: number
  readonly drifted: boolean
  readonly undoing: boolean
}

const list = (selection: string): string => `query ListEdge($filter: ObjectFilter, $first: Int!, $after: String) {
  objects(filter: $filter, first: $first, after: $after, orderBy: { field: NAME, direction: ASC }) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node {
      id name phase phaseClass phaseSince createdAt finished project { name } root { id name } parent { id name } error { code }
      children(first: 1) { totalCount } ${selection}
    } }
  }
}`
const CLOUDLETS = list('... on Cloudlet { upgradePhase epoch version }')
const RECORD = '{ specRevision drifted undoing }'
const INSTANCES = list(`... on ClusterInst ${RECORD} ... on AppInst ${RECORD}`)

/** `cloudlet list`. */
export const listCloudlets = (session: Session, filter: EdgeFilter, limit: number): Promise<ExitCode> =>
  show<ListedCloudlet>(session, 'CLOUDLET', { document: CLOUDLETS, filter, limit }, (cloudlets, now) =>
    table(
      ['PROJECT', 'NAME', 'PHASE', 'SINCE', 'UPGRADE', 'VERSION', 'EPOCH', 'CLUSTERS', 'ERROR'],
      cloudlets.map(
        ({ project, name, phase, phaseClass, phaseSince, upgradePhase, version, epoch, children, error }) => [
          project.name,
          name,
          markedPhase({ phase, phaseClass }),
          duration(Math.max(0, now - Date.parse(phaseSince))),
          upgradePhase,
          version ?? '',
          String(epoch),
          String(children.totalCount ?? ''),
          error?.code ?? '',
        ],
      ),
    ),
  )

/** `cluster list` and `app list`. */
export const listInstances = (
  session: Session,
  kind: InstanceKind,
  filter: EdgeFilter,
  limit: number,
): Promise<ExitCode> =>
  show<ListedInstance>(session, kind, { document: INSTANCES, filter, limit }, (instances, now) =>
    table(
      [NOUNS[kind].toUpperCase(), 'PHASE', 'SINCE', 'AGE', 'REVISION', 'FLAGS', 'ERROR'],
      instances.map((instance) => [
        pathOf(instance),
        markedPhase(instance),
        duration(Math.max(0, now - Date.parse(instance.phaseSince))),
        duration(Math.max(0, now - Date.parse(instance.createdAt))),
        String(instance.specRevision),
        describeFlags(instance),
        instance.error?.code ?? '',
      ]),
    ),
  )

interface Wanted {
  readonly document: string
  readonly filter: EdgeFilter
  readonly limit: number
}

async function show<T>(
  session: Session,
  kind: EdgeKind,
  { document, filter, limit }: Wanted,
  describe: (nodes: readonly T[], now: number) => readonly string[],
): Promise<ExitCode> {
  const { client, io } = session
  const wrong = await checkWords(session, { phases: filter.phase })
  if (wrong) return session.refuse(wrong)
  const listed = await readPages(limit, async (first, after) => {
    const { objects } = await client.query<{ objects: Page<T> | null }>(
      document,
      { filter: serverFilter(kind, filter), first, after },
      { signal: io.signal },
    )
    return objects
  })
  if (!listed) return session.refuse(notFoundRefusal('There is nothing to list.'))
  session.emit({ totalCount: listed.totalCount, [`${NOUNS[kind]}s`]: listed.nodes })
  if (listed.totalCount === 0) session.say('Nothing matches.')
  else session.say(...describe(listed.nodes, Date.now()), ...describeRest(listed))
  return EXIT.ok
}

const serverFilter = (kind: EdgeKind, { project, phase, label }: EdgeFilter): object => ({
  kinds: [kind],
  ...(project === undefined ? {} : { project }),
  ...(phase ? { phases: phase } : {}),
  ...(label ? { labels: label } : {}),
})
