import { AskedStore } from './asked-store.ts'
import { EXISTING, PROJECTS, VIEWER } from './documents-create.ts'
import type { Session } from './session.ts'

export interface ProjectChoice {
  readonly name: string
  readonly workerTemplate: { readonly runtime: string } | null
  readonly subscriptions: readonly { readonly source: string; readonly types: readonly string[] }[]
}

/** The projects that the viewer may see. They are not in the log. */
export const projectChoices = (session: Session, signal: AbortSignal): AskedStore<readonly ProjectChoice[]> =>
  new AskedStore(
    session,
    {
      ask: async ({ client }, asking) => {
        const { projects } = await client.query<{
          projects: { readonly edges: readonly { readonly node: ProjectChoice }[] } | null
        }>(PROJECTS, {}, { signal: asking })
        return (projects?.edges ?? []).map(({ node }) => node)
      },
      concerns: () => false,
    },
    signal,
  )

export interface Viewer {
  readonly name: string
  readonly role: string
}
export const viewerOf = (session: Session, signal: AbortSignal): AskedStore<Viewer | null> =>
  new AskedStore(
    session,
    {
      ask: async ({ client }, asking) =>
        (await client.query<{ viewer: Viewer | null }>(VIEWER, {}, { signal: asking })).viewer,
      concerns: () => false,
    },
    signal,
  )

export interface Existing {
  readonly id: string
  readonly name: string
  readonly kind: string
  readonly phase: string
  readonly generation: number
  readonly root: { readonly id: string }
}
export interface RootPlace {
  readonly project: string
  readonly kind: string
  readonly name: string
}
/** What is there already at that place; null when there is nothing. */
export const existingAt = (
  session: Session,
  place: RootPlace,
  signal: AbortSignal,
): AskedStore<{ readonly existing: Existing | null }> =>
  new AskedStore(
    session,
    {
      ask: async ({ client }, asking) => {
        if (place.name === '') return { existing: null }
        const { project, kind, name } = place
        return await client.query<{ existing: Existing | null }>(
          EXISTING,
          { project, kind, path: [name] },
          { signal: asking },
        )
      },
      concerns: ({ kind, name, objectId, rootId }) => kind === place.kind && name === place.name && objectId === rootId,
    },
    signal,
  )
