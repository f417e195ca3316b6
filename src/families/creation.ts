import type { Refusal, RefusalOf, RefusalType } from '../core/errors.ts'
import type { CommonRefusal, Outcome, WrittenObject } from '../core/ports/outcome.ts'
import type { Viewer } from '../core/ports/viewer.ts'
import { type Right, requireRight } from '../core/rights.ts'
import { byKey, type Keyed } from '../store/idempotency.ts'
import { type CommandAccess, onProject, refuse } from './access.ts'
import type { LockedProject } from './family.ts'

/**
 * Commands that create a root, in two halves. `judge` reads an input before any lock, and what it has judged writes itself in the
 * transaction of whoever has locked the project.
 */

interface JudgedInput<R extends Refusal> {
  /** As `Trees.inProject` takes it. */
  readonly canShare?: boolean
  readonly write: (project: LockedProject) => Promise<Outcome<WrittenObject, R>>
}
type JudgedAs<R extends Refusal> = Outcome<JudgedInput<R>, RefusalOf<'InvalidInputError'>>

/** The answer of `judge`, with the types of the refusals of its `write`. */
export type Judged<Type extends RefusalType> = JudgedAs<RefusalOf<Type>>

interface Creation<Parts, Input, R extends Refusal> {
  /** The holder of the lock of the project has asked for it. */
  readonly right: Right
  judge(parts: Parts, viewer: Viewer, input: Input): Promise<JudgedAs<R>>
}

/** A creation as commands of others ask for it. */
export interface CreationVerb<Input, Type extends RefusalType> {
  /** @param right the one that `write` asks for in the project that is locked; by default that of the creation */
  judge(viewer: Viewer, input: Input, right?: Right): Promise<Judged<Type | 'ForbiddenError'>>
}

/** The verbs of the families that a server has, by their mutations. Each family adds its own by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: families merge into it
export interface Verbs {}

declare module '../graphql/context.ts' {
  interface FamilyServices {
    readonly verbs: Verbs
  }
}

export const verbOf = <Parts, Input, R extends Refusal>(parts: Parts, creation: Creation<Parts, Input, R>) => ({
  async judge(
    viewer: Viewer,
    input: Input,
    right: Right = creation.right,
  ): Promise<JudgedAs<R | RefusalOf<'ForbiddenError'>>> {
    const judged = await creation.judge(parts, viewer, input)
    if (!judged.ok) return judged
    const write = async (project: LockedProject): Promise<Outcome<WrittenObject, R | RefusalOf<'ForbiddenError'>>> => {
      const refused = requireRight(viewer, right, project.projectId)
      return refused ? refuse(refused) : await judged.write(project)
    }
    return { ...judged, write }
  },
})

interface InProject extends Keyed {
  /** The name of the project. */
  readonly project: string
}

/** The command of users: it creates the root in a transaction of its own, once for a key. */
export const creates = <Parts, Input, R extends Refusal>(
  mutation: string,
  { right, judge }: Creation<Parts, Input, R>,
) =>
  async function create(
    parts: Parts & Pick<CommandAccess, 'trees'>,
    viewer: Viewer,
    input: Input & InProject,
  ): Promise<Outcome<WrittenObject, R | RefusalOf<CommonRefusal>>> {
    const judged = await judge(parts, viewer, input)
    if (!judged.ok) return judged
    const { canShare = false, write } = judged
    return onProject(parts, viewer, { right, project: input.project, canShare, once: byKey(mutation, input) }, write)
  }
