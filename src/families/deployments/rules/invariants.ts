import type { Node, Slice } from '../../../core/tree.ts'

declare module '../../../core/tree.ts' {
  interface FamilyQuestions {
    invariants: { readonly args: InvariantArgs; readonly answer: readonly UnmetInvariant[] }
  }
}

/** The root installation whose job is to begin. */
export interface InvariantArgs {
  readonly projectId: string
  readonly name: string
  /** The spec that the job would use. */
  readonly spec: unknown
}

/** An invariant for which a root waits: no run of another root with its spec has succeeded. */
export interface UnmetInvariant {
  readonly invariant: string
  /** The other root. */
  readonly project: string
  readonly name: string
  /** Imports whose own values have to be equal as well. */
  readonly sameValues: readonly string[]
}

/**
 * The invariants of its project for which the job of a root has to wait. Deletions never ask, and FORCE asks as well: it passes
 * over what has failed, and not over rules of the project.
 */
export function unmetInvariants(node: Node, slice: Slice): readonly UnmetInvariant[] | undefined {
  if (!slice.hasInvariants || slice.parent(node)) return []
  const spec = slice.spec(node)
  if (spec === undefined) return undefined
  const { projectId, name } = node.row
  return slice.ask('invariants', { projectId, name, spec })
}

export const describeUnmet = ({ invariant, project, name, sameValues }: UnmetInvariant): string => {
  const values = sameValues.length > 0 ? ` and its ${sameValues.join(', ')}` : ''
  return `The invariant ${invariant} asks for it: no run of ${project}/${name} with this spec${values} has succeeded.`
}
