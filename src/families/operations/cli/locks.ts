import type { Command } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import { addList, type ListOptions } from '../../../cli/list.ts'
import { option } from '../../../cli/options.ts'
import { since } from '../../../cli/terminal/text.ts'
import { gql } from '../../../documents/gql.ts'
import { letterOf } from './tasks/describe.ts'

interface LocksOptions extends ListOptions {
  readonly resource?: string
}
/** `object` is null when the user may not read it. */
const LOCKS = gql(`query Locks($resource: String, $first: Int!, $after: String) {
  locks(resource: $resource, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node {
      resource mode held position declaredAt grantedAt object { id name phase project { name } root { name } }
    } }
  }
}`)

/** `phaseline locks`: holders and waiters of each resource, in order. */
export function addLocks(command: Command, cli: Cli): void {
  addList(command, cli, {
    document: LOCKS,
    key: 'locks',
    limit: 200,
    options: [option('--resource <resource>', 'only on this one, such as host:web-1')],
    select: ({ resource }: LocksOptions) => ({ resource: resource ?? null }),
    page: ({ locks }) => locks,
    columns: {
      RESOURCE: ({ resource }) => resource,
      MODE: ({ mode }) => letterOf(mode),
      STATE: ({ held }) => (held ? 'holds' : 'waits'),
      POSITION: ({ held, position }) => (held ? '' : position),
      AGE: ({ grantedAt, declaredAt }) => since(grantedAt ?? declaredAt),
      PHASE: ({ object }) => object?.phase,
      JOB: ({ object }) =>
        object ? `${object.project.name}/${object.root.name}/${object.name}` : '(of another project)',
    },
    none: ({ resource }) =>
      resource === undefined ? 'Nothing is locked, and nobody waits.' : `Nobody holds ${resource}, or waits for it.`,
  })
}
