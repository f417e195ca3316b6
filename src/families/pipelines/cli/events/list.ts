import type { Command } from 'commander'
import type { Cli } from '../../../../cli/cli.ts'
import { readList } from '../../../../cli/list.ts'
import { addObjectList, filterOf, type ObjectOptions } from '../../../../cli/objects/object-list.ts'
import { markedPhase } from '../../../../cli/objects/phases.ts'
import { type LabelArgument, option, parseLabel } from '../../../../cli/options.ts'
import type { Session } from '../../../../cli/session.ts'
import { shorten, since } from '../../../../cli/terminal/text.ts'
import { gql } from '../../../../documents/gql.ts'
import type { ResultOf } from '../../../../documents/typed-document.ts'

/** Options that select events; all must match. */
export interface EventOptions extends Omit<ObjectOptions, 'limit'> {
  readonly source?: string
  readonly type?: string
  readonly qualifier?: readonly LabelArgument[]
}
export const EVENT_OPTIONS = [
  option('--source <source>', 'only from this source'),
  option('--type <type>', 'only of this type'),
  option('--qualifier <key=value>', 'only with exactly these qualifiers', parseLabel),
]

const LIST = gql(`query ListEvents($filter: ObjectFilter, $first: Int!, $after: String) {
  objects(filter: $filter, first: $first, after: $after, orderBy: { field: CREATED_AT, direction: DESC }) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node {
      id name phase phaseClass phaseSince createdAt project { name } error { code }
      ... on Event { source type qualifiers { key value } worker { startedAt endedAt } }
    } }
  }
}`)
const SOURCE_SHOWN = 40

/** `event list`: the newest first. */
export const addEventList = (command: Command, cli: Cli): Command =>
  addObjectList(command, cli, {
    kind: 'EVENT',
    document: LIST,
    key: 'events',
    options: EVENT_OPTIONS,
    filter: eventFilter,
    columns: {
      PROJECT: ({ project }) => project.name,
      NAME: ({ name }) => name,
      SOURCE: ({ source }) => shorten(source, SOURCE_SHOWN),
      TYPE: ({ type }) => shorten(type, SOURCE_SHOWN),
      PHASE: markedPhase,
      SINCE: ({ phaseSince }) => since(phaseSince),
      TOOK: ({ worker }) => took(worker),
      ERROR: ({ error }) => error?.code,
    },
  })

const eventFilter = ({ source, type, qualifier }: EventOptions) => ({
  rootsOnly: true,
  ...((source ?? type ?? qualifier) !== undefined && {
    event: { source: source ?? null, type: type ?? null, qualifiers: qualifier ?? null },
  }),
})

/** The number of events that match. */
export async function countEvents(session: Session, options: EventOptions): Promise<number> {
  const filter = { ...filterOf(options), kinds: ['EVENT'] as const, ...eventFilter(options) }
  const pages = { document: LIST, page: ({ objects }: ResultOf<typeof LIST>) => objects }
  return (await readList(session, pages, { filter }, 0))?.totalCount ?? 0
}

/** Duration of its run; empty before the start. */
export const took = (
  workload: { readonly startedAt: string | null; readonly endedAt: string | null } | null,
): string => (workload?.startedAt ? since(workload.startedAt, workload.endedAt) : '')
