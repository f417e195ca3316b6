import { readNodes } from '../../../cli/list.ts'
import { ATTEMPTS } from '../../../cli/objects/describe-attempts.ts'
import { OBJECT_FIELDS } from '../../../cli/objects/describe-object.ts'
import { pageOfKind } from '../../../cli/objects/object-list.ts'
import type { Session } from '../../../cli/session.ts'
import { gql } from '../../../documents/gql.ts'
import type { NodeOf, ResultOf } from '../../../documents/typed-document.ts'

const CLOUDLET = gql(`query GetCloudlet($id: ID!) { object(id: $id) {
  ...Full
  ... on Cloudlet {
    upgradePhase epoch version wantedVersion resyncedAt
    agents { role epoch instance by version connectedAt leaseUntil }
    driftedInstances { id kind name parent { id name } } orphans { kind path phase specRevision }
  }
} }\n${OBJECT_FIELDS}`)
const RECORD = `operationId specRevision spec drifted undoing cloudlet { id name phase upgradePhase } agent { name instance } ${ATTEMPTS}`
const INSTANCE = gql(`query GetInstance($id: ID!) { object(id: $id) {
  ...Full ... on ClusterInst { ${RECORD} } ... on AppInst { ${RECORD} }
} }\n${OBJECT_FIELDS}`)
const LISTED = `id name phase phaseClass phaseSince finished specRevision drifted undoing error { code message }
      blockedBy(first: 3) { reason message } children(first: 0) { totalCount }`
const BENEATH = gql(`query Beneath($id: ID!, $first: Int!, $after: String) { object(id: $id) {
  children(first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { ... on ClusterInst { ${LISTED} } ... on AppInst { ${LISTED} } } }
  }
} }`)
/** An instance in the list of its parent. */
export type ListedInstance = Extract<
  NodeOf<NonNullable<ResultOf<typeof BENEATH>['object']>['children']>,
  { readonly id: string }
>
interface WithInstances {
  /** The cluster instances of a cloudlet, or the app instances of a cluster instance. */
  readonly instances: readonly ListedInstance[]
}
type CloudletRecord = Extract<ResultOf<typeof CLOUDLET>['object'], { readonly epoch: number }>
type InstanceRecord = Extract<ResultOf<typeof INSTANCE>['object'], { readonly specRevision: number }>
export type FullCloudlet = CloudletRecord & WithInstances
export type FullInstance = InstanceRecord & WithInstances
/** A CRM that serves a cloudlet, or is starting. */
export type ConnectedCrm = CloudletRecord['agents'][number]

/** Enough for a screen; `cluster list` and `app list` print all. */
const MOST = 1_000

/** A cloudlet with its cluster instances; null when it is gone. */
export async function readCloudlet(session: Session, id: string): Promise<FullCloudlet | null> {
  const { object } = await session.client.query(CLOUDLET, { id }, { signal: session.io.signal })
  return object?.epoch === undefined ? null : { ...object, instances: await readInstances(session, id) }
}

/** An instance with the app instances on it; null when it is gone. */
export async function readInstance(session: Session, id: string): Promise<FullInstance | null> {
  const { object } = await session.client.query(INSTANCE, { id }, { signal: session.io.signal })
  return object?.specRevision === undefined ? null : { ...object, instances: await readInstances(session, id) }
}

async function readInstances(session: Session, id: string): Promise<readonly ListedInstance[]> {
  const pages = { document: BENEATH, page: ({ object }: ResultOf<typeof BENEATH>) => pageOfKind(object?.children) }
  return await readNodes(session, pages, { id }, MOST)
}
