import type { Command } from 'commander'
import type { Cli } from '../../../../cli/cli.ts'
import { addObjectList } from '../../../../cli/objects/object-list.ts'
import { markedPhase } from '../../../../cli/objects/phases.ts'
import { since } from '../../../../cli/terminal/text.ts'
import { gql } from '../../../../documents/gql.ts'

const LIST = gql(`query ListTasks($filter: ObjectFilter, $first: Int!, $after: String) {
  objects(filter: $filter, first: $first, after: $after, orderBy: { field: CREATED_AT, direction: DESC }) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node {
      id name phase phaseClass phaseSince createdAt finished project { name } error { code } children(first: 0) { totalCount }
    } }
  }
}`)

/** `task list`: the newest first. */
export const addTaskList = (command: Command, cli: Cli): Command =>
  addObjectList(command, cli, {
    kind: 'TASK',
    document: LIST,
    key: 'tasks',
    columns: {
      PROJECT: ({ project }) => project.name,
      NAME: ({ name }) => name,
      PHASE: markedPhase,
      JOBS: ({ children }) => children.totalCount,
      AGE: ({ createdAt }) => since(createdAt),
      TOOK: ({ createdAt, phaseSince, finished }) => since(createdAt, finished ? phaseSince : null),
      ERROR: ({ error }) => error?.code,
    },
  })
