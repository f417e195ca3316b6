import type { ObjectKind, Phase } from '../core/vocabulary.ts'
import type { ObjectState } from './tree-at.ts'

/** An object that differs between two states of a tree. */
export interface ObjectDifference {
  readonly change: 'ADDED' | 'REMOVED' | 'CHANGED'
  readonly objectId: string
  readonly kind: ObjectKind
  readonly name: string
  readonly path: string
  /** Null: it was not there. */
  readonly before: Phase | null
  readonly after: Phase | null
}

/** Both in the order of their ids. An object that has moved and is in its phase again has changed. */
export function diffStates(before: readonly ObjectState[], after: readonly ObjectState[]): readonly ObjectDifference[] {
  const earlier = new Map(before.map((state) => [state.objectId, state]))
  const later = new Map(after.map((state) => [state.objectId, state]))
  const pathOf = (state: ObjectState, states: ReadonlyMap<string, ObjectState>): string => {
    const parent = state.parentId === null ? undefined : states.get(state.parentId)
    return parent ? `${pathOf(parent, states)}/${state.name}` : state.name
  }
  const ids = [...new Set([...earlier.keys(), ...later.keys()])].sort()
  return ids.flatMap((objectId): ObjectDifference[] => {
    const [one, other] = [earlier.get(objectId), later.get(objectId)]
    if (one && other && one.revision === other.revision && one.phase === other.phase) return []
    const shown = other ?? one
    if (!shown) return []
    const { kind, name } = shown
    const change = one ? (other ? 'CHANGED' : 'REMOVED') : 'ADDED'
    const path = pathOf(shown, other ? later : earlier)
    return [{ change, objectId, kind, name, path, before: one?.phase ?? null, after: other?.phase ?? null }]
  })
}
