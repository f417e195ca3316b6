import { readPages } from 'phaseline/client-model'
import { AskedStore } from './asked-store.ts'
import { PROJECTS, VIEWER } from './documents-create.ts'
import type { NodeOf, ResultOf } from './gql.ts'
import type { Session } from './session.ts'

export type ProjectChoice = NodeOf<ResultOf<typeof PROJECTS>['projects']>

/** The projects that the viewer may read. The log does not have them. */
export const projectChoices = (session: Session, signal: AbortSignal): AskedStore<readonly ProjectChoice[]> =>
  new AskedStore(
    session,
    {
      ask: async ({ client }, asking) => {
        const listed = await readPages(Number.POSITIVE_INFINITY, async (_, after) => {
          const { projects } = await client.query(PROJECTS, { after }, { signal: asking })
          return projects
        })
        return listed?.nodes ?? []
      },
      concerns: () => false,
    },
    signal,
  )

export type Viewer = NonNullable<ResultOf<typeof VIEWER>['viewer']>
export const viewerOf = (session: Session, signal: AbortSignal): AskedStore<Viewer | null> =>
  new AskedStore(
    session,
    {
      ask: async ({ client }, asking) => (await client.query(VIEWER, {}, { signal: asking })).viewer,
      concerns: () => false,
    },
    signal,
  )
