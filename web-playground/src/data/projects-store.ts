import { nextCursor, nodesOf } from 'phaseline/client-model'
import type { ProjectRow } from '../model/project.ts'
import { isWriter } from '../model/viewer.ts'
import { PROJECT, PROJECTS } from './documents-projects.ts'
import type { NodeOf, ResultOf } from './gql.ts'
import type { Session } from './session.ts'

export interface ProjectList {
  readonly projects: readonly ProjectRow[]
  /** Users that may read all projects may create projects. */
  readonly mayCreate: boolean
  readonly mayWrite: boolean
}
type ReadProject = NonNullable<ResultOf<typeof PROJECT>['project']>
export type DataObject = NodeOf<ReadProject['dataObjects']>
export interface Project extends Omit<ReadProject, 'dataObjects'> {
  readonly dataObjects: readonly DataObject[]
  readonly dataObjectCount: number
  readonly objectCount: number | null
}

export async function readProjects({ client }: Session, signal: AbortSignal): Promise<ProjectList> {
  const projects: ProjectRow[] = []
  for (let after: string | null = null; ; ) {
    const { viewer, projects: page }: ResultOf<typeof PROJECTS> = await client.query(PROJECTS, { after }, { signal })
    projects.push(...nodesOf(page))
    after = nextCursor(page)
    if (after !== null) continue
    const mayWrite = viewer !== null && isWriter(viewer.role)
    return { projects, mayWrite, mayCreate: mayWrite && viewer.projects === null }
  }
}

/** Null when this viewer finds no project of the name. */
export async function readProject({ client }: Session, name: string, signal: AbortSignal): Promise<Project | null> {
  const { project, objects } = await client.query(PROJECT, { name }, { signal })
  if (!project) return null
  return {
    ...project,
    dataObjects: nodesOf(project.dataObjects),
    dataObjectCount: project.dataObjects.totalCount ?? 0,
    objectCount: objects?.totalCount ?? null,
  }
}
