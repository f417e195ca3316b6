import type { Evaluated, FamilyQuestion, FamilyQuestions, Node } from '../../core/tree.ts'
import type { ObjectKind } from '../../core/vocabulary.ts'
import { NO_SPECS, type SpecsOfTree } from '../cache/spec-cache.ts'
import type { TrackedObject } from '../tracked-object.ts'
import { type Question, Questions } from './questions.ts'

/** An expression or a schema that has to be evaluated outside of the lock. */
export interface Evaluation {
  readonly key: string
  readonly objectId: string
  readonly job:
    | { readonly type: 'resolve'; readonly template: unknown; readonly scope: Readonly<Record<string, unknown>> }
    | { readonly type: 'validate'; readonly schema: unknown; readonly value: unknown }
}

export interface ReaderOptions {
  readonly root: TrackedObject
  readonly projectName: string
  /** Results of expressions and schemas that were evaluated before the lock was taken, by their key. */
  readonly evaluated: ReadonlyMap<string, Evaluated>
  /** Specs that the previous transaction read before it spent its budget. */
  readonly specs?: SpecsOfTree | undefined
}

/**
 * The reading half of a slice: the objects in memory, and the questions that rules ask about the others. An answer is
 * undefined until the engine has loaded it; then the rule runs again.
 */
export class SliceReader {
  root: TrackedObject
  readonly projectName: string
  readonly specs: SpecsOfTree
  readonly nodes = new Map<string, TrackedObject>()
  readonly questions = new Questions()
  readonly evaluations = new Map<string, Evaluation>()
  readonly #evaluated: ReadonlyMap<string, Evaluated>
  /** The object whose rule runs. It decides again once its questions are answered. */
  #current: TrackedObject | null = null

  constructor({ root, projectName, evaluated, specs = NO_SPECS }: ReaderOptions) {
    this.root = root
    this.projectName = projectName
    this.specs = specs
    this.#evaluated = evaluated
    this.nodes.set(root.row.id, root)
  }

  parent = (node: Node): TrackedObject | null => (node.row.parentId === null ? null : this.#loaded(node.row.parentId))
  get = (id: string): TrackedObject | undefined => this.nodes.get(id)

  /** Runs a rule about one object. */
  runRule(node: TrackedObject, rule: () => void): void {
    this.#current = node
    try {
      rule()
    } finally {
      this.#current = null
    }
  }

  children(node: Node): readonly TrackedObject[] | undefined {
    if (!this.#ask(node, { type: 'children', id: node.row.id })) return undefined
    return this.#childrenOf(node.row.id)
  }

  childrenNamed(
    node: Node,
    kind: ObjectKind,
    names: readonly string[],
  ): ReadonlyMap<string, TrackedObject> | undefined {
    const known = this.#knownByName(node, kind, names)
    if (known) return known
    const ids = this.#ask<readonly string[]>(node, { type: 'named', id: node.row.id, kind, names })
    return ids && new Map(this.#live(ids).map((n) => [n.row.name, n]))
  }

  readyChildren(node: Node, after: number, limit: number): readonly TrackedObject[] | undefined {
    const { id, jobId } = node.row
    const isReady = ({ row }: TrackedObject) => row.ordinal > after && row.waitingFor === 0 && row.jobId !== jobId
    // All children are in memory if the parent is new or a rule has asked for all of them.
    if (this.questions.isAnswered({ type: 'children', id })) return this.#childrenOf(id).filter(isReady).slice(0, limit)
    // Every trigger changes which children are ready, so an answer is valid for one run of the rule.
    const question: Question = { type: 'ready', id, after, jobId, limit }
    const ids = this.#ask<readonly string[]>(node, question)
    if (!ids) return undefined
    this.questions.forget(question)
    const found = this.#live(ids)
    if (ids.length === 0 || found.some(isReady)) return found
    // Children that have decided since the answer are not ready any more: others may be, or none.
    this.#ask(node, question)
    return undefined
  }

  spec(node: Node): unknown {
    const tracked = node as TrackedObject
    if (tracked.spec === undefined) this.#ask(node, { type: 'spec', id: node.row.id })
    return tracked.spec
  }

  neighbours(node: Node, side: 'dependents' | 'dependencies'): readonly TrackedObject[] | undefined {
    const ids = this.#ask<readonly string[]>(node, { type: side, id: node.row.id })
    return ids && this.#live(ids)
  }

  known(node: Node, side: 'dependents' | 'dependencies'): readonly TrackedObject[] | undefined {
    const ids = this.questions.find({ type: side, id: node.row.id })
    return ids === undefined ? undefined : this.#live(ids as readonly string[])
  }

  ask<Q extends FamilyQuestion>(
    question: Q,
    args: FamilyQuestions[Q]['args'],
  ): FamilyQuestions[Q]['answer'] | undefined {
    return this.#ask<FamilyQuestions[Q]['answer']>(this.root, { type: 'own', question, args })
  }

  evaluate(node: Node, template: unknown, scope: Readonly<Record<string, unknown>>): Evaluated | undefined {
    return this.#evaluate(node, { type: 'resolve', template, scope })
  }
  validate(node: Node, schema: unknown, value: unknown): Evaluated | undefined {
    return this.#evaluate(node, { type: 'validate', schema, value })
  }

  /**
   * A result is of one job: if a rule needs several and one was known from the job before, it would only ask for the others,
   * and then only for that one, for ever.
   */
  #evaluate(node: Node, job: Evaluation['job']): Evaluated | undefined {
    const { id, jobId } = node.row
    const key = `${id} ${jobId} ${JSON.stringify(job)}`
    const known = this.#evaluated.get(key)
    if (!known) this.evaluations.set(key, { key, objectId: node.row.id, job })
    return known
  }

  #childrenOf(id: string): readonly TrackedObject[] {
    const found = [...this.nodes.values()].filter((n) => n.row.parentId === id && !n.gone)
    return found.sort((a, b) => a.row.ordinal - b.row.ordinal || (a.row.id < b.row.id ? -1 : 1))
  }

  /** The named children, if all children and their specs are in memory, else null. */
  #knownByName(node: Node, kind: ObjectKind, names: readonly string[]): ReadonlyMap<string, TrackedObject> | null {
    if (!this.questions.isAnswered({ type: 'children', id: node.row.id })) return null
    const wanted = new Set(names)
    const found = this.#childrenOf(node.row.id).filter(({ row }) => row.kind === kind && wanted.has(row.name))
    return found.every(({ spec }) => spec !== undefined) ? new Map(found.map((n) => [n.row.name, n])) : null
  }

  #ask<T>(node: Node, question: Question): T | undefined {
    return this.questions.ask(question, this.#current ?? (node as TrackedObject)) as T | undefined
  }
  #loaded(id: string): TrackedObject {
    const node = this.nodes.get(id)
    if (!node) throw new Error(`object ${id} should have been loaded with its descendant`)
    return node
  }
  #live(ids: readonly string[]): readonly TrackedObject[] {
    return ids.flatMap((id) => {
      const node = this.nodes.get(id)
      return node && !node.gone ? [node] : []
    })
  }
}
