import type { Viewer } from '../../core/ports/viewer.ts'

/** A worker reads the tree of its own event only; other viewers read all trees of their projects. */
export const canReadTree = (viewer: Viewer, rootId: string): boolean =>
  viewer.rootId === undefined || viewer.rootId === rootId

/** The rows that the viewer may read. */
export const readable = <Row extends { readonly rootId: string }>(
  viewer: Viewer,
  rows: readonly Row[],
): readonly Row[] => rows.filter(({ rootId }) => canReadTree(viewer, rootId))
