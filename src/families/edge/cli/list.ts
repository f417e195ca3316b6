import type { Command } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import { addObjectList } from '../../../cli/objects/object-list.ts'
import { markedPhase } from '../../../cli/objects/phases.ts'
import { since } from '../../../cli/terminal/text.ts'
import { gql } from '../../../documents/gql.ts'
import { type InstanceKind, kinds } from '../rules/kinds.ts'
import { describeFlags } from './describe.ts'
import { pathOf } from './write.ts'

const LISTED = `id name phase phaseClass phaseSince createdAt finished project { name } root { id name } parent { id name }
      error { code } children(first: 0) { totalCount }`
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
export const addCloudletList = (command: Command, cli: Cli): Command =>
  addObjectList(command, cli, {
    kind: 'CLOUDLET',
    document: CLOUDLETS,
    key: 'cloudlets',
    columns: {
      PROJECT: ({ project }) => project.name,
      NAME: ({ name }) => name,
      PHASE: markedPhase,
      SINCE: ({ phaseSince }) => since(phaseSince),
      UPGRADE: ({ upgradePhase }) => upgradePhase,
      VERSION: ({ version }) => version,
      EPOCH: ({ epoch }) => epoch,
      CLUSTERS: ({ children }) => children.totalCount,
      ERROR: ({ error }) => error?.code,
    },
  }).description('list cloudlets by name')

/** `cluster list` and `app list`. */
export const addInstanceList = (command: Command, cli: Cli, kind: InstanceKind): Command =>
  addObjectList(command, cli, {
    ...{ kind, document: INSTANCES, key: `${kinds[kind].noun}s` },
    columns: {
      [kinds[kind].noun.toUpperCase()]: pathOf,
      PHASE: markedPhase,
      SINCE: ({ phaseSince }) => since(phaseSince),
      AGE: ({ createdAt }) => since(createdAt),
      REVISION: ({ specRevision }) => specRevision,
      FLAGS: describeFlags,
      ERROR: ({ error }) => error?.code,
    },
  }).description(`list ${kinds[kind].noun}s by name`)
