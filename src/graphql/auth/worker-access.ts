import type { Viewer } from '../../core/ports/viewer.ts'

/** A worker reads the tree that it works for, and no other of its project; everybody else may read all trees. */
export const canReadTree = ({ eventId }: Viewer, rootId: string): boolean => eventId === undefined || eventId === rootId

/** Those of a list that the viewer may read. */
export const readable = <Row extends { readonly rootId: string }>(
  viewer: Viewer,
  rows: readonly Row[],
): readonly Row[] => rows.filter(({ rootId }) => canReadTree(viewer, rootId))
