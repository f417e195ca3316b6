import { AskedStore } from './asked-store.ts'
import { gql, type ResultOf } from './gql.ts'
import type { Session } from './session.ts'

const PROJECT_CHANGES = gql(`query ChangesOfProject($name: String!, $fromTime: DateTime!) {
  project(name: $name) {
    treeChanges(fromTime: $fromTime) {
      treeCount
      trees {
        rootId name changedAt addedCount removedCount changedCount failedCount
        root { kind phase } creation { at actor by }
      }
    }
  }
}`)

export type ProjectChanges = NonNullable<ResultOf<typeof PROJECT_CHANGES>['project']>['treeChanges']
export type ChangedTree = NonNullable<ProjectChanges>['trees'][number]

/** The trees of a project that differ from how they were at a time. */
export const projectChangesOf = (
  session: Session,
  { name, fromTime }: { readonly name: string; readonly fromTime: string },
  signal: AbortSignal,
): AskedStore<{ readonly changes: ProjectChanges }> =>
  new AskedStore(
    session,
    {
      ask: async ({ client }, asking) => {
        const { project } = await client.query(PROJECT_CHANGES, { name, fromTime }, { signal: asking })
        return { changes: project?.treeChanges ?? null }
      },
      concerns: (change) => change.projectName === name,
    },
    signal,
  )
