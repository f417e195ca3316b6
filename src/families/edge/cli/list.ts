import { checkWords } from '../../../cli/objects/check-words.ts'
import { markedPhase } from '../../../cli/objects/phases.ts'
import type { LabelArgument } from '../../../cli/options.ts'
import type { Session } from '../../../cli/session.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import { duration } from '../../../cli/terminal/text.ts'
import { notFoundRefusal, type Page, readPages } from '../../../client-model/index.ts'
import type { Phase } from '../../../core/vocabulary.ts'
import { gql } from '../../../documents/gql.ts'
import type { TypedDocument, VariablesOf } from '../../../documents/typed-document.ts'
import { type EdgeKind, type InstanceKind, kinds } from '../rules/kinds.ts'
import { describeFlags } from './describe.ts'
import { pathOf } from './write.ts'

/** Options that select objects; all must match. */
export interface EdgeFilter {
  readonly project?: string
  readonly phase?: readonly Phase[]
  readonly label?: readonly LabelArgument[]
}
const LISTED = `id name phase phaseClass phaseSince createdAt finished project { name } root { id name } parent { id name }
      error { code } children(first: 1) { totalCount }`
const CLOUDLETS = gql(`query ListCloudlets($filter: ObjectFilter, $first: Int!, $after: String) {
  objects(filter: $filter, first: $first, after: $after, orderBy: { field: NAME, direction: ASC }) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { ... on Cloudlet { ${LISTED} upgradePhase epoch version } } }
  }
}`)
const INSTANCE = `{ ${LISTED} specRevision drifted undoing }` as const
const INSTANCES = gql(`query ListInstances($filter: ObjectFilter, $first: Int!, $after: String) {
  objects(filter: $filter, first: $first, after: $after, orderBy: { field: NAME, direction: ASC }) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { ... on ClusterInst ${INSTANCE} ... on AppInst ${INSTANCE} } }
  }
}`)
/** `cloudlet list`. */
export const listCloudlets = (session: Session, filter: EdgeFilter, limit: number): Promise<ExitCode> =>
  show(
    session,
    'CLOUDLET',
    { document: CLOUDLETS, filter, limit },
    {
      head: ['PROJECT', 'NAME', 'PHASE', 'SINCE', 'UPGRADE', 'VERSION', 'EPOCH', 'CLUSTERS', 'ERROR'],
      rowOf: (cloudlet, now) => [
        cloudlet.project.name,
        cloudlet.name,
        markedPhase(cloudlet),
        duration(Math.max(0, now - Date.parse(cloudlet.phaseSince))),
        cloudlet.upgradePhase,
        cloudlet.version ?? '',
        String(cloudlet.epoch),
        String(cloudlet.children.totalCount ?? ''),
        cloudlet.error?.code ?? '',
      ],
    },
  )

/** `cluster list` and `app list`. */
export const listInstances = (
  session: Session,
  kind: InstanceKind,
  filter: EdgeFilter,
  limit: number,
): Promise<ExitCode> =>
  show(
    session,
    kind,
    { document: INSTANCES, filter, limit },
    {
      head: [kinds[kind].noun.toUpperCase(), 'PHASE', 'SINCE', 'AGE', 'REVISION', 'FLAGS', 'ERROR'],
      rowOf: (instance, now) => [
        pathOf(instance),
        markedPhase(instance),
        duration(Math.max(0, now - Date.parse(instance.phaseSince))),
        duration(Math.max(0, now - Date.parse(instance.createdAt))),
        String(instance.specRevision),
        describeFlags(instance),
        instance.error?.code ?? '',
      ],
    },
  )

interface List<T> {
  readonly document: TypedDocument<{ readonly objects: Page<T> | null }, VariablesOf<typeof INSTANCES>>
  readonly filter: EdgeFilter
  readonly limit: number
}
interface Columns<T> {
  readonly head: readonly string[]
  rowOf(node: T, now: number): readonly string[]
}
/** A node of the wanted kind: others have none of the selected fields. */
type OfKind<T> = Extract<T, { readonly id: string }>

async function show<T extends { readonly id?: string | undefined }>(
  session: Session,
  kind: EdgeKind,
  { document, filter, limit }: List<T>,
  { head, rowOf }: Columns<OfKind<T>>,
): Promise<ExitCode> {
  const { client, io } = session
  const wrong = await checkWords(session, { phases: filter.phase })
  if (wrong) return session.refuse(wrong)
  const listed = await readPages(limit, async (first, after) => {
    const { objects } = await client.query(
      document,
      { filter: serverFilter(kind, filter), first, after },
      { signal: io.signal },
    )
    return objects
  })
  if (!listed) return session.refuse(notFoundRefusal('There is nothing to list.'))
  const nodes = listed.nodes.filter((node): node is OfKind<T> => node.id !== undefined)
  session.emit({ totalCount: listed.totalCount, [`${kinds[kind].noun}s`]: nodes })
  const now = Date.now()
  session.list({ head, rows: nodes.map((node) => rowOf(node, now)), none: 'Nothing matches.', listed })
  return EXIT.ok
}

const serverFilter = (kind: EdgeKind, { project, phase, label }: EdgeFilter) => ({
  kinds: [kind],
  ...(project === undefined ? {} : { project }),
  ...(phase ? { phases: phase } : {}),
  ...(label ? { labels: label } : {}),
})
