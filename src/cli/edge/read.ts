import type { PhaseClass } from '../../core/machine.ts'
import { type FullObject, OBJECT_FIELDS } from '../objects/describe-object.ts'
import { type Page, readPages } from '../objects/pages.ts'
import type { Session } from '../session.ts'

/** A CRM that serves a cloudlet, or is being brought up. */
export interface ConnectedCrm {
  readonly role: string
  readonly epoch: number
  readonly instance: string
  readonly by: string
  readonly version: string
  readonly connectedAt: string
  /** Null: it has disconnected. */
  readonly leaseUntil: string | null
}
interface Named {
  readonly name: string
}
/** An instance as what it stands on lists it. */
export interface ListedInstance {
  readonly id: string
  readonly name: string
  readonly phase: string
  readonly phaseClass: PhaseClass
  readonly phaseSince: string
  readonly finished: boolean
  readonly specRevision: number
  readonly drifted: boolean
  readonly undoing: boolean
  readonly error: { readonly code: string; readonly message: string } | null
  readonly blockedBy: readonly { readonly reason: string; readonly message: string }[]
  readonly children: { readonly totalCount: number | null }
}
interface WithInstances {
  /** What stands on it: cluster instances of a cloudlet, app instances of a cluster instance. */
  readonly instances: readonly ListedInstance[]
}
export interface FullCloudlet extends FullObject, WithInstances {
  readonly upgradePhase: string
  readonly epoch: number
  readonly version: string | null
  readonly wantedVersion: string | null
  readonly agents: readonly ConnectedCrm[]
  readonly driftedInstances: readonly (
    | (Named & {
        readonly id: string
        readonly kind: string
        readonly parent: (Named & { readonly id: string }) | null
      })
    | null
  )[]
  readonly orphans: readonly {
    readonly kind: string
    readonly path: readonly string[]
    readonly phase: string
    readonly specRevision: number | null
  }[]
  readonly resyncedAt: string | null
}
export interface FullInstance extends FullObject, WithInstances {
  readonly operationId: string | null
  readonly specRevision: number
  readonly spec: unknown
  readonly drifted: boolean
  readonly undoing: boolean
  readonly cloudlet: (Named & { readonly id: string; readonly phase: string; readonly upgradePhase: string }) | null
  readonly agent: { readonly name: string; readonly instance: string } | null
}
const CLOUDLET = `query GetCloudlet($id: ID!) { object(id: $id) {
  ...Full
  ... on Cloudlet {
    upgradePhase epoch version wantedVersion resyncedAt
    agents { role epoch instance by version connectedAt leaseUntil }
    driftedInstances { id kind name parent { id name } } orphans { kind path phase specRevision }
  }
} }\n${OBJECT_FIELDS}`
const RECORD =
  'operationId specRevision spec drifted undoing cloudlet { id name phase upgradePhase } agent { name instance }'
const INSTANCE = `query GetInstance($id: ID!) { object(id: $id) {
  ...Full ... on ClusterInst { ${RECORD} } ... on AppInst { ${RECORD} }
} }\n${OBJECT_FIELDS}`
const LISTED = `id name phase phaseClass phaseSince finished specRevision drifted undoing error { code message }
      blockedBy(first: 3) { reason message } children(first: 1) { totalCount }`
const BENEATH = `query Beneath($id: ID!, $first: Int!, $after: String) { object(id: $id) {
  children(first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { ... on ClusterInst { ${LISTED} } ... on AppInst { ${LISTED} } } }
  }
} }`
/** More instances than anybody reads; `cluster list` and `app list` have them all. */
const MOST = 1_000

/** A cloudlet with its cluster instances; null once it is gone. */
export const readCloudlet = (session: Session, id: string): Promise<FullCloudlet | null> =>
  readWithInstances<FullCloudlet>(session, id, CLOUDLET)

/** An instance with what stands on it; null once it is gone. */
export const readInstance = (session: Session, id: string): Promise<FullInstance | null> =>
  readWithInstances<FullInstance>(session, id, INSTANCE)

async function readWithInstances<T extends WithInstances>(
  { client, io }: Session,
  id: string,
  document: string,
): Promise<(Omit<T, 'instances'> & WithInstances) | null> {
  const { object } = await client.query<{ object: Omit<T, 'instances'> | null }>(
    document,
    { id },
    { signal: io.signal },
  )
  if (!object) return null
  const beneath = await readPages(MOST, async (first, after) => {
    const { object: parent } = await client.query<{ object: { readonly children: Page<ListedInstance> } | null }>(
      BENEATH,
      { id, first, after },
      { signal: io.signal },
    )
    return parent?.children ?? null
  })
  return { ...object, instances: beneath?.nodes ?? [] }
}
