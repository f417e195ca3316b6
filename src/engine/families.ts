import type { Machine } from '../core/machine.ts'
import type { Actor, ObjectKind, Phase, WorkAction } from '../core/vocabulary.ts'
import type { Answer, DetailsTable, Family, Placement, RunEffect, RunSharedEffect } from '../families/family.ts'
import { PostgresRows, type TreeRows } from '../store/tree-rows.ts'

/** Maps a kind to its family, machine and details table. */
export interface Kinds {
  readonly families: readonly Family[]
  readonly rows: TreeRows
  family(kind: ObjectKind): Family
  machine(kind: ObjectKind): Machine
  detailsOf(kind: ObjectKind): DetailsTable | undefined
  /** The query for a question, and the write of an effect. */
  answer(question: string): Answer<never>
  effect(name: string): RunEffect<never>
  /** Undefined: each tree runs the effect of this name alone. */
  sharedEffect(name: string): RunSharedEffect<never> | undefined
  /** Kinds of roots without children. */
  readonly loneKinds: readonly ObjectKind[]
  /** Actions of work that outlives its object. */
  readonly outlivingActions: readonly WorkAction[]
  /** Phases whose report says that the object is gone. */
  readonly gonePhases: readonly Phase[]
  /** True if a machine of this kind has a transition for the actor. */
  isDrivenBy(kind: ObjectKind, actor: Actor): boolean
  /** The placement of work for this actor; undefined: it may start anywhere. */
  placementOf(actor: Actor): Placement | undefined
  /** The kinds that the actor drives. */
  drivenBy(actor: Actor): readonly ObjectKind[]
}

export function kindsOf(families: readonly Family[]): Kinds {
  const byKind = new Map<ObjectKind, { family: Family; machine: Machine }>()
  for (const family of families) {
    for (const machine of family.machines) {
      // The first machine of a kind governs its phase; further ones are secondary.
      for (const kind of machine.kinds) if (!byKind.has(kind)) byKind.set(kind, { family, machine })
    }
  }
  const details = families.flatMap((family) => family.details)
  const drivers = new Map<ObjectKind, Set<Actor>>()
  for (const { kinds, transitions } of families.flatMap(({ machines }) => machines)) {
    for (const kind of kinds) {
      const actors = drivers.get(kind) ?? new Set()
      for (const { actor } of transitions) actors.add(actor)
      drivers.set(kind, actors)
    }
  }
  const of = (kind: ObjectKind) => {
    const found = byKind.get(kind)
    if (!found) throw new Error(`no family owns the kind ${kind}`)
    return found
  }
  const questions = named('question', families, (family) => family.questions)
  const effects = named('effect', families, (family) => family.effects)
  const shared = new Map<string, unknown>(families.flatMap((family) => Object.entries(family.sharedEffects ?? {})))
  return {
    families,
    answer: (question) => questions(question) as Answer<never>,
    effect: (name) => effects(name) as RunEffect<never>,
    sharedEffect: (name) => shared.get(name) as RunSharedEffect<never> | undefined,
    rows: new PostgresRows(details),
    family: (kind) => of(kind).family,
    machine: (kind) => of(kind).machine,
    loneKinds: families.flatMap(({ isLone, machines }) => (isLone ? machines.flatMap(({ kinds }) => kinds) : [])),
    outlivingActions: families.flatMap((family) => family.outlivingActions ?? []),
    gonePhases: ['GONE', ...families.flatMap((family) => family.gonePhases ?? [])],
    detailsOf: (kind) => details.find((table) => table.kinds.includes(kind)),
    isDrivenBy: (kind, actor) => drivers.get(kind)?.has(actor) ?? false,
    placementOf: (actor) => families.find(({ placement }) => placement?.actor === actor)?.placement,
    drivenBy: (actor) => [...drivers].flatMap(([kind, actors]) => (actors.has(actor) ? [kind] : [])),
  }
}

/** By name. @throws Error if two families have the same, or none has what is looked up */
function named(what: string, families: readonly Family[], of: (family: Family) => object): (name: string) => unknown {
  const all = new Map<string, unknown>()
  for (const [name, value] of families.flatMap((family) => Object.entries(of(family)))) {
    if (all.has(name)) throw new Error(`two families have the ${what} ${name}`)
    all.set(name, value)
  }
  return (name) => {
    const found = all.get(name)
    if (found === undefined) throw new Error(`no family has the ${what} ${name}`)
    return found
  }
}
