import { REFUSAL_FRAGMENT } from '../../../client-model/index.ts'
import { type FragmentOf, gql } from '../../../documents/gql.ts'

/** The mutations of cloudlets and instances, except cancel and delete, which all kinds share. */

const WRITTEN = `fragment Written on TreeObject {
  id kind name phase generation project { name } root { id name } parent { id name }
  ... on Cloudlet { upgradePhase } ... on ClusterInst { operationId } ... on AppInst { operationId }
}`
/** An object as it is after a mutation. */
export type WriteAnswer = FragmentOf<typeof WRITTEN>

const RESULT = `{ __typename ...Written ...Refusal } }\n${WRITTEN}\n${REFUSAL_FRAGMENT}` as const

export const CREATE_CLOUDLET = gql(
  `mutation CreateCloudlet($input: CreateCloudletInput!) { answer: createCloudlet(input: $input) ${RESULT}`,
)
export const CREATE_CLUSTER = gql(
  `mutation CreateCluster($input: CreateClusterInstInput!) { answer: createClusterInst(input: $input) ${RESULT}`,
)
export const CREATE_APP = gql(
  `mutation CreateApp($input: CreateAppInstInput!) { answer: createAppInst(input: $input) ${RESULT}`,
)
export const UPDATE_CLUSTER = gql(
  `mutation UpdateCluster($input: UpdateClusterInstInput!) { answer: updateClusterInst(input: $input) ${RESULT}`,
)
export const UPDATE_APP = gql(
  `mutation UpdateApp($input: UpdateAppInstInput!) { answer: updateAppInst(input: $input) ${RESULT}`,
)
export const UPGRADE_CLOUDLET = gql(
  `mutation UpgradeCloudlet($input: UpgradeCloudletInput!) { answer: upgradeCloudlet(input: $input) ${RESULT}`,
)
export const RESOLVE_UPGRADE = gql(
  `mutation ResolveUpgrade($input: ResolveCloudletUpgradeInput!) {
  answer: resolveCloudletUpgrade(input: $input) ${RESULT}`,
)
