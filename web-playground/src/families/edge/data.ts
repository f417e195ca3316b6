import { readPages } from 'phaseline/client-model'
import type { Question } from '../../data/asked-store.ts'
import { CREATED } from '../../data/documents-create.ts'
import { gql } from '../../data/gql.ts'
import { ListStore } from '../../data/list-store.ts'
import type { Session } from '../../data/session.ts'
import { ALL_OBJECTS } from '../../model/filter.ts'
import { type CloudletDetails, DRIFTED_READ, ORPHANS_READ } from './model/edge-map.ts'

/** The API's largest page, since all objects are read. */
const PAGE = 500
const DETAILS_PAGE = 200

export const CREATE_CLOUDLET = gql(
  `mutation Create($input: CreateCloudletInput!) { answer: createCloudlet(input: $input) ${CREATED}`,
)
export const CREATE_CLUSTER = gql(
  `mutation Create($input: CreateClusterInstInput!) { answer: createClusterInst(input: $input) ${CREATED}`,
)
export const CREATE_APP = gql(
  `mutation Create($input: CreateAppInstInput!) { answer: createAppInst(input: $input) ${CREATED}`,
)
const CLOUDLET_DETAILS = gql(`query CloudletDetails($first: Int!, $after: String) {
  objects(filter: { kinds: [CLOUDLET] }, first: $first, after: $after) {
    pageInfo { hasNextPage endCursor }
    edges {
      node {
        id
        ... on Cloudlet {
          version wantedVersion upgradePhase epoch resyncedAt drifted
          driftedInstances(first: ${DRIFTED_READ}) { id }
          orphans(first: ${ORPHANS_READ}) { kind path phase }
          agents { role instance version leaseUntil }
        }
      }
    }
  }
}`)

/** A CRM's news about its cloudlet come with a phase change of the cloudlet, or of the instances that it corrects. */
export const DETAILS: Question<ReadonlyMap<string, CloudletDetails>> = {
  concerns: ({ kind, reason }) => kind === 'CLOUDLET' || reason === 'resync',
  async ask({ client }, signal) {
    const read = await readPages(Number.POSITIVE_INFINITY, async (_, after) => {
      return (await client.query(CLOUDLET_DETAILS, { first: DETAILS_PAGE, after }, { signal })).objects
    })
    const cloudlets = (read?.nodes ?? []).filter((node) => node.epoch !== undefined)
    return new Map(cloudlets.map((cloudlet) => [cloudlet.id, cloudlet]))
  },
}

export const cloudletList = (session: Session, signal: AbortSignal): ListStore =>
  new ListStore(
    session,
    { ...ALL_OBJECTS, kinds: ['CLOUDLET'], order: { field: 'NAME', direction: 'ASC' } },
    signal,
    PAGE,
  )
/** In the order of creation, so parents come before their children. */
export const instanceList = (session: Session, signal: AbortSignal): ListStore =>
  new ListStore(
    session,
    { ...ALL_OBJECTS, kinds: ['CLUSTER_INST', 'APP_INST'], order: { field: 'CREATED_AT', direction: 'ASC' } },
    signal,
    PAGE,
  )
