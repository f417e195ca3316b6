import type { EventSubscription, Limits, ProjectRow } from '../model/project.ts'
import { isWriter } from '../model/viewer.ts'
import type { ObjectLink } from './details-store.ts'
import { PROJECT, PROJECTS } from './documents-projects.ts'
import type { Session } from './session.ts'

export interface ProjectList {
  readonly projects: readonly ProjectRow[]
  /** Users that may see all projects make new ones. */
  readonly mayCreate: boolean
  readonly mayWrite: boolean
}
export interface DataObject {
  readonly name: string
  readonly value: unknown
  readonly updatedAt: string
  readonly exporter: ObjectLink | null
}
export interface Project {
  readonly name: string
  readonly createdAt: string
  readonly limits: Limits
  readonly workerTemplate: Readonly<Record<string, unknown>> | null
  readonly subscriptions: readonly EventSubscription[]
  readonly secrets: readonly { readonly name: string; readonly updatedAt: string }[]
  readonly dataObjects: readonly DataObject[]
  readonly moreDataObjects: boolean
  readonly objectCount: number | null
}

export async function readProjects({ client }: Session, signal: AbortSignal): Promise<ProjectList> {
  interface Page {
    readonly viewer: { readonly role: string; readonly projects: readonly string[] | null }
    readonly projects: {
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
      readonly edges: readonly { readonly node: ProjectRow }[]
    }
  }
  const projects: ProjectRow[] = []
  for (let after: string | null = null; ; ) {
    const page: Page = await client.query<Page>(PROJECTS, { after }, { signal })
    projects.push(...page.projects.edges.map(({ node }) => node))
    if (page.projects.pageInfo.hasNextPage) {
      after = page.projects.pageInfo.endCursor
      continue
    }
    const { role, projects: own } = page.viewer
    const mayWrite = isWriter(role)
    return { projects, mayWrite, mayCreate: mayWrite && own === null }
  }
}

/** Null when there is none of this name, for this viewer. */
export async function readProject({ client }: Session, name: string, signal: AbortSignal): Promise<Project | null> {
  interface Answer {
    readonly project:
      | (Omit<Project, 'dataObjects' | 'moreDataObjects' | 'objectCount'> & {
          readonly dataObjects: {
            readonly pageInfo: { readonly hasNextPage: boolean }
            readonly edges: readonly { readonly node: DataObject }[]
          }
        })
      | null
    readonly objects: { readonly totalCount: number | null }
  }
  const { project, objects } = await client.query<Answer>(PROJECT, { name }, { signal })
  if (!project) return null
  const { pageInfo, edges } = project.dataObjects
  return {
    ...project,
    dataObjects: edges.map(({ node }) => node),
    moreDataObjects: pageInfo.hasNextPage,
    objectCount: objects.totalCount,
  }
}
