import type { Viewer } from './ports/viewer.ts'

/** A project, and a tree if the subject belongs to one. */
export interface Place {
  /** Null: a project that is not known any more, which only viewers of all projects may read. */
  readonly projectId: string | null
  readonly rootId?: string
}

/** A worker reads the tree of its own event only; other viewers read all of their projects. */
export const canRead = (viewer: Pick<Viewer, 'projects' | 'rootId'>, { projectId, rootId }: Place): boolean =>
  (viewer.projects === null || (projectId !== null && viewer.projects.includes(projectId))) &&
  (viewer.rootId === undefined || rootId === undefined || viewer.rootId === rootId)

/** The rows that the viewer may read. */
export const readable = <Row extends Place>(viewer: Viewer, rows: readonly Row[]): readonly Row[] =>
  rows.filter((row) => canRead(viewer, row))
