import { gql } from './gql.ts'

/** The documents of the page of agents. */

export const AGENTS = gql(`query Agents($first: Int!, $after: String) {
  agents(first: $first, after: $after) {
    totalCount
    pageInfo { hasNextPage endCursor }
    edges { node { id name instance actor types targets targetSelector { type labels { key value } } connected connectedAt seenAt } }
  }
}`)

export const LOAD = gql(`query Load {
  load { complete trees { due oldestSeconds } work { type offered deferred claimed oldestSeconds } }
}`)

/** Objects that an agent works on, or that may wait for one. */
export const WORK = gql(`query Work($kinds: [ObjectKind!]!, $first: Int!) {
  objects(filter: { kinds: $kinds, finished: false }, first: $first) {
    totalCount
    edges {
      node {
        id kind name phase phaseSince root { id name }
        blockedBy(first: 3) { reason message ... on AgentBlocker { types connected } }
        ... on WorkObject { agent { name instance leaseUntil } }
      }
    }
  }
}`)
