import type { ObjectKind } from '../../core/vocabulary.ts'
import type { TrackedObject } from '../tracked-object.ts'

/** Data that a rule needs and that the slice may not have. */
export type Question =
  | { readonly type: 'children'; readonly id: string }
  | { readonly type: 'named'; readonly id: string; readonly kind: ObjectKind; readonly names: readonly string[] }
  | {
      readonly type: 'ready'
      readonly id: string
      readonly after: number
      readonly jobId: string | null
      readonly limit: number
    }
  | { readonly type: 'spec'; readonly id: string }
  | { readonly type: 'dependents' | 'dependencies'; readonly id: string }
  | { readonly type: 'own'; readonly question: string; readonly args: unknown }

/** Serialises the arguments of rare questions only, since that is slow. Each new object answers three frequent ones. */
function keyOf(question: Question): string {
  switch (question.type) {
    case 'children':
    case 'spec':
    case 'dependents':
    case 'dependencies':
      return `${question.type} ${question.id}`
    default:
      return JSON.stringify(question)
  }
}

/** Answers so far, and the objects that wait for each open question. */
export class Questions {
  readonly #answers = new Map<string, unknown>()
  readonly #open = new Map<string, { question: Question; askers: Set<TrackedObject> }>()

  ask(question: Question, asker: TrackedObject): unknown {
    const key = keyOf(question)
    const answer = this.#answers.get(key)
    if (answer !== undefined) return answer
    const open = this.#open.get(key)
    if (open) open.askers.add(asker)
    else this.#open.set(key, { question, askers: new Set([asker]) })
    return undefined
  }

  find(question: Question): unknown {
    return this.#answers.get(keyOf(question))
  }
  isAnswered(question: Question): boolean {
    return this.#answers.has(keyOf(question))
  }
  answer(question: Question, answer: unknown): void {
    this.#answers.set(keyOf(question), answer)
  }
  forget(question: Question): void {
    this.#answers.delete(keyOf(question))
  }

  /** Returns the open questions and clears them. */
  take(): readonly { question: Question; askers: ReadonlySet<TrackedObject> }[] {
    const open = [...this.#open.values()]
    this.#open.clear()
    return open
  }
  get pending(): number {
    return this.#open.size
  }
}
