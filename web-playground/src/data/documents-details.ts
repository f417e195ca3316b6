import { AUTOMATIC_FRAGMENT, MANIFEST_FRAGMENT } from 'phaseline/client-model'
import { ROW_FIELDS } from './documents.ts'
import { gql } from './gql.ts'

/** The document of one object, which lists do without. */

const LINK = 'id kind name phase root { id }'
const BLOCKERS = `reason message source { ${LINK} }
  ... on AgentBlocker { connected }
  ... on DependencyBlocker { object { ${LINK} } }
  ... on ParentBlocker { object { ${LINK} } }
  ... on SiblingImportBlocker { object { ${LINK} } }
  ... on CloudletBlocker { object { ${LINK} } }
  ... on LockBlocker { resource position holders { ${LINK} } }
  ... on NotInJobBlocker { object { ${LINK} } }
  ... on DecisionBlocker { object { ${LINK} } verbs { name label allowed } }`

const ARTIFACTS = `artifacts(last: 30) { totalCount edges { node {
  id name size sha256 fileName createdAt expiresAt object { ${LINK} }
} } }`

/** Secrets are named, never shown. */
const WORKLOAD_SPEC = `runtime command args image timeoutMs
      services { name image command args env { name value } secrets ports user readiness { port command timeoutMs } }`

export const DETAILS = gql(`query Details($id: ID!) {
  object(id: $id) {
    ...RowFields
    updatedAt generation observedGeneration deletionRequestedAt labels { key value }
    progress { step value total unit }
    deadlines { name since expiresAt to message }
    failure: error { code message at causeCount causes(first: 10) { code kind message name objectId object { root { id } } }
      rootCause { objectId name code message object { path root { id } } } }
    verbs { name allowed obstacle why effect }
    tree: root { id kind name phase finished parent { id } deletionRequestedAt verbs { name allowed obstacle why effect } }
    blockedBy(first: 10) { ${BLOCKERS} }
    dependsOn(first: 20) { totalCount edges { node { ${LINK} } } }
    ... on Installation { exports imports ...Manifest ...Automatic }
    ... on WorkObject { maxAttempts attempts { number agent begunAt endedAt notBefore finalBy error { code message } } }
    ... on DeployItem { type target config attempt exports agent { name instance } }
    ... on Event { ${ARTIFACTS} source eventType: type qualifiers { key value } retryOf { ${LINK} } cloneOf { ${LINK} } }
    ... on GadgetJob { gadget args activity exports agent { name instance } }
    ... on Job { ${ARTIFACTS} exitCode signal commit workloadSpec { ${WORKLOAD_SPEC} } agent { name instance } }
    ... on Worker { ${ARTIFACTS} exitCode signal commit workloadSpec { ${WORKLOAD_SPEC} } agent { name instance } }
    ... on ClusterInst { spec drifted }
    ... on AppInst { spec drifted }
    ... on Cloudlet { version epoch upgradePhase drifted }
  }
}\n${ROW_FIELDS}\n${MANIFEST_FRAGMENT}\n${AUTOMATIC_FRAGMENT}`)
