import type { Refusal } from '../core/errors.ts'
import type { Outcome } from '../core/ports/outcome.ts'
import type { Viewer } from '../core/ports/viewer.ts'
import type { Right } from '../core/rights.ts'
import type { Verb } from '../core/verb.ts'
import type { ObjectKind } from '../core/vocabulary.ts'

/** A mutation of a family's verbs, as it is asked of many objects, one after the other. */
export interface AskedMutation {
  readonly right: Right
  /** A condition on an object `o` that a selection leaves out: it was asked before, and has what the verb makes. */
  readonly doneSql?: string
  /** Changes one object, or creates one from it, in one transaction. */
  ask(viewer: Viewer, call: AskedCall): Promise<Outcome<{ readonly objectId: string }, Refusal>>
}
export interface AskedCall {
  readonly id: string
  /** For people, such as the reason of a cancellation. */
  readonly note: string | null
  /** The verb always sends it. */
  readonly input: Verb['input']
  /** Names of the verb's flags that are set. A kind ignores those that it does not have. */
  readonly flags: ReadonlySet<string>
}

/** A verb with its mutation. */
export interface AskedVerb extends AskedMutation {
  readonly verb: Verb
}

/** The verbs of this name, by the kinds of their objects. */
export const verbsNamed = (verbs: readonly AskedVerb[], name: string): ReadonlyMap<ObjectKind, AskedVerb> =>
  new Map(verbs.flatMap((one) => (one.verb.name === name ? [[one.verb.kind, one] as const] : [])))

declare module '../graphql/context.ts' {
  interface FamilyServices {
    /** The verbs that can be asked of many objects. */
    readonly askedVerbs: readonly AskedVerb[]
  }
}
